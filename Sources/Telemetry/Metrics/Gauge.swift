/// A number that rises and falls.
public struct Gauge: Sendable {
    private let series: LabelledValues<Double>

    init(_ labels: [String]) {
        series = LabelledValues(labels: labels, seriesMax: Metrics.seriesMax, fresh: 0)
    }

    /// Makes it this number.
    public func set(_ value: Double, _ labels: String...) {
        series.change(labels) { $0 = value }
    }

    /// Adds to it, or takes from it.
    public func add(_ amount: Double, _ labels: String...) {
        series.change(labels) { $0 += amount }
    }

    var samples: [MetricFamily.Sample] {
        series.all().map { MetricFamily.Sample(labels: $0.labels, value: $0.value) }
    }
}
