import Synchronization

/// The upper bounds of a histogram's buckets, ascending; the last bucket, up to infinity, is implied.
public struct Buckets: Sendable {
    let bounds: [Double]

    init(_ bounds: [Double]) { self.bounds = bounds }

    /// Buckets from 5 ms to 5 minutes, in seconds: a render, from a copied file to its default timeout.
    public static let renders = Buckets([
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
    ])
    /// Buckets from 10 ms to a day, in seconds: the wait of a job.
    public static let waits = Buckets([
        0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400,
    ])
    /// Buckets from 1 ms to a minute, in seconds: the response to a request.
    public static let requests = Buckets([
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ])
    /// Buckets from 32 MiB to 8 GiB, in bytes: the memory of a render child.
    public static let memory = Buckets((25...33).map { Double(1 << $0) })
    /// Buckets for the ratio of a real value to its estimate. A ratio from 0.6 to 1 is good.
    public static let ratios = Buckets([0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 4])
}

/// The distribution of values over fixed buckets.
public struct Histogram: Sendable {
    private struct Spread {
        /// The number of values in each single bucket; the last one is above all bounds.
        var counts: [Int]
        var sum = 0.0
    }

    private let buckets: Buckets
    private let series: LabelledValues<Spread>
    private let told: Metrics.Change

    init(_ buckets: Buckets, _ labels: [String], _ told: @escaping Metrics.Change) {
        self.buckets = buckets
        self.told = told
        series = LabelledValues(
            labels: labels,
            fresh: Spread(counts: Array(repeating: 0, count: buckets.bounds.count + 1)))
    }

    /// Counts a value.
    public func record(_ value: Double, _ labels: String...) {
        let index = buckets.bounds.firstIndex { value <= $0 } ?? buckets.bounds.count
        series.change(labels) {
            $0.counts[index] += 1
            $0.sum += value
        }
        told(value, labels)
    }

    /// The cumulative count of each bucket, then sum and count.
    var samples: [MetricFamily.Sample] {
        series.all().flatMap { labels, spread in
            var below = 0
            return zip(buckets.bounds + [.infinity], spread.counts).map { bound, count in
                below += count
                let limit = MetricFamily.Label("le", Exposition.number(bound))
                return MetricFamily.Sample(
                    suffix: "_bucket", labels: labels + [limit], value: Double(below))
            } + [
                MetricFamily.Sample(suffix: "_sum", labels: labels, value: spread.sum),
                MetricFamily.Sample(suffix: "_count", labels: labels, value: Double(below)),
            ]
        }
    }
}

/// The metrics of a process: each is created once, recorded from any thread and read as a whole.
public final class Metrics: Sendable {
    /// The maximum number of series of one metric; further ones are counted under ``overflow``.
    public static let seriesMax = 200
    /// The label value of all series beyond ``seriesMax``.
    public static let overflow = "other"

    typealias Change = @Sendable (_ value: Double, _ labels: [String]) -> Void

    private let sources = Mutex<[(name: String, read: @Sendable () -> MetricFamily)]>([])
    private let told: @Sendable (String, Double, [String]) -> Void

    /// Creates an empty set of metrics.
    ///
    /// - Parameter told: called after each change, in its task, with the metric, the value added, set or recorded, and the values
    ///   of its labels. For tests and benchmarks.
    public init(
        told: @escaping @Sendable (_ metric: String, _ value: Double, _ labels: [String]) -> Void =
            { _, _, _ in }
    ) { self.told = told }

    /// Creates a counter; its name ends with `_total`.
    ///
    /// - Parameter seriesMax: The maximum number of series, if more than ``seriesMax`` are known beforehand.
    public func counter(
        _ name: String, _ help: String, labels: [String] = [], seriesMax: Int = seriesMax
    ) -> Counter {
        precondition(name.hasSuffix("_total"), "the name of the counter \(name) ends in _total")
        let counter = Counter(labels, seriesMax, change(of: name))
        add(name) {
            MetricFamily(name: name, help: help, kind: .counter, samples: counter.samples)
        }
        return counter
    }

    /// Adds the gauge by which a scrape tells which program runs.
    ///
    /// - Parameter commit: nil for a program that does not know it.
    public func buildInfo(_ version: String, _ commit: String?) {
        gauge(
            "minilab_build_info", "The version and the commit that run.",
            labels: ["version", "commit"]
        ).set(1, version, commit ?? "none")
    }

    public func gauge(_ name: String, _ help: String, labels: [String] = []) -> Gauge {
        let gauge = Gauge(labels, change(of: name))
        add(name) { MetricFamily(name: name, help: help, kind: .gauge, samples: gauge.samples) }
        return gauge
    }

    public func histogram(
        _ name: String, _ help: String, _ buckets: Buckets, labels: [String] = []
    ) -> Histogram {
        let histogram = Histogram(buckets, labels, change(of: name))
        add(name) {
            MetricFamily(name: name, help: help, kind: .histogram, samples: histogram.samples)
        }
        return histogram
    }

    /// Returns all metrics with their present values, in the order of their creation.
    public func families() -> [MetricFamily] {
        sources.withLock { $0 }.map { $0.read() }
    }

    private func change(of name: String) -> Change {
        { [told] value, labels in told(name, value, labels) }
    }

    private func add(_ name: String, _ read: @escaping @Sendable () -> MetricFamily) {
        sources.withLock { sources in
            precondition(!sources.contains { $0.name == name }, "there are two metrics \(name)")
            sources.append((name, read))
        }
    }
}

/// The series of one metric: a value for each combination of label values that occurred.
///
/// Their number is bounded: beyond ``seriesMax``, values are counted in a series whose labels are all
/// ``overflow``. So sums stay correct and memory stays small, whatever the source of the labels.
final class LabelledValues<Value: Sendable>: Sendable {
    let labels: [String]
    private let seriesMax: Int
    private let series: Mutex<[[String]: Value]>
    private let fresh: Value

    /// - Parameter fresh: The initial value of a series; a metric without labels has its series from the start.
    init(labels: [String], seriesMax: Int = Metrics.seriesMax, fresh: Value) {
        self.labels = labels
        self.seriesMax = seriesMax
        self.fresh = fresh
        series = Mutex(labels.isEmpty ? [[]: fresh] : [:])
    }

    /// Changes the series of these label values; there must be one value for each label.
    func change(_ values: [String], _ body: (inout Value) -> Void) {
        precondition(values.count == labels.count, "expected values of \(labels), got \(values)")
        series.withLock { series in
            let isKnown = series[values] != nil || series.count < seriesMax
            let key = isKnown ? values : values.map { _ in Metrics.overflow }
            body(&series[key, default: fresh])
        }
    }

    /// Returns all series, sorted by their label values so that texts can be compared.
    func all() -> [(labels: [MetricFamily.Label], value: Value)] {
        series.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { (zip(labels, $0.key).map { MetricFamily.Label($0, $1) }, $0.value) }
    }
}

/// A number that only increases.
public struct Counter: Sendable {
    private let series: LabelledValues<Double>
    private let told: Metrics.Change

    init(_ labels: [String], _ seriesMax: Int, _ told: @escaping Metrics.Change) {
        series = LabelledValues(labels: labels, seriesMax: seriesMax, fresh: 0)
        self.told = told
    }

    /// Increases the counter by `amount`, which is not negative.
    public func add(_ amount: Double = 1, _ labels: String...) {
        precondition(amount >= 0, "a counter only rises; \(amount) was to be added")
        series.change(labels) { $0 += amount }
        told(amount, labels)
    }

    var samples: [MetricFamily.Sample] {
        series.all().map { MetricFamily.Sample(labels: $0.labels, value: $0.value) }
    }
}

/// A number that increases and decreases.
public struct Gauge: Sendable {
    private let series: LabelledValues<Double>
    private let told: Metrics.Change

    init(_ labels: [String], _ told: @escaping Metrics.Change) {
        series = LabelledValues(labels: labels, fresh: 0)
        self.told = told
    }

    public func set(_ value: Double, _ labels: String...) {
        series.change(labels) { $0 = value }
        told(value, labels)
    }

    /// Sets a gauge of a fact to 1 if it is so, and to 0 if it is not.
    public func set(_ isSo: Bool) { set(isSo ? 1 : 0) }

    /// Adds a positive or negative amount.
    public func add(_ amount: Double, _ labels: String...) {
        series.change(labels) { $0 += amount }
        told(amount, labels)
    }

    var samples: [MetricFamily.Sample] {
        series.all().map { MetricFamily.Sample(labels: $0.labels, value: $0.value) }
    }
}

/// The text format of Prometheus, version 0.0.4.
///
/// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>.
public enum Exposition {
    /// The content type of a scrape's response.
    public static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// Returns the text of these metrics; metrics without samples are left out.
    public static func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                text += family.name + sample.suffix + labels(sample.labels)
                text += " " + number(sample.value) + "\n"
            }
        }
        return text
    }

    /// Returns a number in the syntax of Go's `ParseFloat`.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        // Whole numbers have no fraction while a Double represents them exactly.
        if abs(value) < 0x1p53, let whole = Int(exactly: value) { return String(whole) }
        return value.description
    }

    private static func labels(_ labels: [MetricFamily.Label]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{"
            + labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
            .joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        // By scalars: CR LF is one character, and only its LF is escaped.
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// All series of one metric at one moment, ready to be written.
public struct MetricFamily: Sendable, Equatable {
    /// The meaning of a metric's numbers.
    public enum Kind: String, Sendable {
        /// A number that only increases, and restarts from 0 with the process.
        case counter
        /// A number that increases and decreases.
        case gauge
        /// The number of values at or below each bound.
        case histogram
    }

    public struct Sample: Sendable, Equatable {
        /// The suffix of the metric's name: empty, or a histogram's `_bucket`, `_sum`, `_count`.
        public let suffix: String
        /// The labels, in the order in which they are written.
        public let labels: [Label]
        /// The number.
        public let value: Double

        public init(suffix: String = "", labels: [Label] = [], value: Double) {
            self.suffix = suffix
            self.labels = labels
            self.value = value
        }
    }

    /// A name and a value that distinguish one series from the others.
    public struct Label: Sendable, Equatable {
        /// The name: letters, digits and `_`.
        public let name: String
        /// The value: any text.
        public let value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The name: letters, digits and `_`. It ends with its unit, and with `_total` for a counter.
    public let name: String
    /// The description for people, one sentence.
    public let help: String
    /// The meaning of its numbers.
    public let kind: Kind
    public let samples: [Sample]

    public init(name: String, help: String, kind: Kind, samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.samples = samples
    }

    /// Returns a gauge with a single, current value.
    public static func gauge(
        _ name: String, _ help: String, labels: [Label] = [], _ value: Double
    ) -> MetricFamily {
        MetricFamily(
            name: name, help: help, kind: .gauge, samples: [Sample(labels: labels, value: value)])
    }
}
