import Synchronization

/// The metrics of a process: each is created once, recorded from any thread and read as a whole.
public final class Metrics: Sendable {
    /// The maximum number of series of one metric; further ones are counted under ``overflow``.
    public static let seriesMax = 200
    /// The label value of all series beyond ``seriesMax``.
    public static let overflow = "other"

    private let sources = Mutex<[(name: String, read: @Sendable () -> MetricFamily)]>([])

    /// Creates an empty set of metrics.
    public init() {}

    /// Creates a counter; its name ends with `_total`.
    ///
    /// - Parameter seriesMax: The maximum number of series, if more than ``seriesMax`` are known beforehand.
    public func counter(
        _ name: String, _ help: String, labels: [String] = [], seriesMax: Int = seriesMax
    ) -> Counter {
        precondition(name.hasSuffix("_total"), "the name of the counter \(name) ends in _total")
        let counter = Counter(labels, seriesMax: seriesMax)
        add(name) {
            MetricFamily(name: name, help: help, kind: .counter, samples: counter.samples)
        }
        return counter
    }

    /// Creates a gauge.
    public func gauge(_ name: String, _ help: String, labels: [String] = []) -> Gauge {
        let gauge = Gauge(labels)
        add(name) { MetricFamily(name: name, help: help, kind: .gauge, samples: gauge.samples) }
        return gauge
    }

    /// Creates a histogram.
    public func histogram(
        _ name: String, _ help: String, _ buckets: Buckets, labels: [String] = []
    ) -> Histogram {
        let histogram = Histogram(buckets, labels, seriesMax: Self.seriesMax)
        add(name) {
            MetricFamily(name: name, help: help, kind: .histogram, samples: histogram.samples)
        }
        return histogram
    }

    /// Returns all metrics with their present values, in the order of their creation.
    public func families() -> [MetricFamily] {
        sources.withLock { $0 }.map { $0.read() }
    }

    private func add(_ name: String, _ read: @escaping @Sendable () -> MetricFamily) {
        sources.withLock { sources in
            precondition(!sources.contains { $0.name == name }, "there are two metrics \(name)")
            sources.append((name, read))
        }
    }
}
