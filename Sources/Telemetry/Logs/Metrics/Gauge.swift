/// A number that increases and decreases.
public struct Gauge: Sendable {
    private let series: LabelledValues<Double>

    init(_ labels: [String]) {
        series = LabelledValues(labels: labels, seriesMax: Metrics.seriesMax, fresh: 0)
    }

    /// Sets the value.
    public func set(_ value: Double, _ labels: String...) {
        series.change(labels) { $0 = value }
    }

    /// Adds a positive or negative amount.
    public func add(_ amount: Double, _ labels: String...) {
        series.change(labels) { $0 += amount }
    }

    var samples: [MetricFamily.Sample] {
        series.all().map { MetricFamily.Sample(labels: $0.labels, value: $0.value) }
    }
}
