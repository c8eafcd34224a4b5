/// A number that only increases.
public struct Counter: Sendable {
    private let series: LabelledValues<Double>

    init(_ labels: [String], seriesMax: Int) {
        series = LabelledValues(labels: labels, seriesMax: seriesMax, fresh: 0)
    }

    /// Increases the counter by `amount`, which is not negative.
    public func add(_ amount: Double = 1, _ labels: String...) {
        precondition(amount >= 0, "a counter only rises; \(amount) was to be added")
        series.change(labels) { $0 += amount }
    }

    var samples: [MetricFamily.Sample] {
        series.all().map { MetricFamily.Sample(labels: $0.labels, value: $0.value) }
    }
}
