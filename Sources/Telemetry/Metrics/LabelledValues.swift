import Synchronization

/// The series of one metric: a value for each combination of label values that was seen.
///
/// Their number is bounded: what comes when ``seriesMax`` are there goes to one whose labels all say
/// ``overflow``, so sums stay true and memory stays small whatever the labels come from.
final class LabelledValues<Value: Sendable>: Sendable {
    let labels: [String]
    private let seriesMax: Int
    private let series: Mutex<[[String]: Value]>
    private let fresh: Value

    /// - Parameter fresh: what a series starts from; without labels it is there from the start.
    init(labels: [String], seriesMax: Int, fresh: Value) {
        self.labels = labels
        self.seriesMax = seriesMax
        self.fresh = fresh
        series = Mutex(labels.isEmpty ? [[]: fresh] : [:])
    }

    /// Changes the series of these label values; there must be one for each label.
    func change(_ values: [String], _ body: (inout Value) -> Void) {
        precondition(values.count == labels.count, "expected values of \(labels), got \(values)")
        series.withLock { series in
            let isKnown = series[values] != nil || series.count < seriesMax
            let key = isKnown ? values : values.map { _ in Metrics.overflow }
            body(&series[key, default: fresh])
        }
    }

    /// All series, sorted by their label values so that texts compare.
    func all() -> [(labels: [MetricFamily.Label], value: Value)] {
        series.withLock { $0 }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { (zip(labels, $0.key).map { MetricFamily.Label($0, $1) }, $0.value) }
    }
}
