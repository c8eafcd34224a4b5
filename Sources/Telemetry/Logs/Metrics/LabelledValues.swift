import Synchronization

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
    init(labels: [String], seriesMax: Int, fresh: Value) {
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
