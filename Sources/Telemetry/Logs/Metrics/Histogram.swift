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

    init(_ buckets: Buckets, _ labels: [String], seriesMax: Int) {
        self.buckets = buckets
        series = LabelledValues(
            labels: labels, seriesMax: seriesMax,
            fresh: Spread(counts: Array(repeating: 0, count: buckets.bounds.count + 1)))
    }

    /// Counts a value.
    public func record(_ value: Double, _ labels: String...) {
        let index = buckets.bounds.firstIndex { value <= $0 } ?? buckets.bounds.count
        series.change(labels) {
            $0.counts[index] += 1
            $0.sum += value
        }
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
