import Foundation
import MinilabTesting
import Testing

@testable import Telemetry

@Suite("Metrics") struct MetricsTests {
    @Test func `a counter, a gauge and a histogram are written as Prometheus reads them`() {
        let metrics = Metrics()
        metrics.counter("a_total", "Things.", labels: ["kind"]).add(2, "b")
        metrics.gauge("b_bytes", "Bytes.").set(-1.5)
        let seconds = metrics.histogram("c_seconds", "Time.", Buckets([0.1, 1]))
        for value in [0.05, 0.1, 0.5, 7] { seconds.record(value) }
        #expect(
            Exposition.text(metrics.families()) == """
                # HELP a_total Things.
                # TYPE a_total counter
                a_total{kind="b"} 2
                # HELP b_bytes Bytes.
                # TYPE b_bytes gauge
                b_bytes -1.5
                # HELP c_seconds Time.
                # TYPE c_seconds histogram
                c_seconds_bucket{le="0.1"} 2
                c_seconds_bucket{le="1"} 3
                c_seconds_bucket{le="+Inf"} 4
                c_seconds_sum 7.65
                c_seconds_count 4

                """)
    }

    @Test func `label values may be any text`() throws {
        let metrics = Metrics()
        let hostile = ["\"", "\\", "\n", "\r\n", "a\"} 1\nb{c=\"", "é🙂\u{0}", ""]
        let counter = metrics.counter("a_total", "With \\ and\nnewline.", labels: ["b"])
        for value in hostile { counter.add(1, value) }
        let text = Exposition.text(metrics.families())
        #expect(text.split(separator: "\n").count == 2 + hostile.count)
        try PromTool.checkMetrics(text)
    }

    @Test(arguments: [
        (0, "0"), (-3, "-3"), (0.1, "0.1"), (1e-9, "1e-09"), (1e300, "1e+300"),
        (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        (0x1p53, "9007199254740992.0"),
        (-0x1p63, "-9.223372036854775808e+18"),
    ])
    func `numbers are written as Go reads them`(value: Double, text: String) {
        #expect(Exposition.number(value) == text || Double(Exposition.number(value)) == value)
        #expect(!Exposition.number(value).contains("inf"))
    }

    @Test func `a metric without a series is not written, and one without labels is there at 0`() {
        let metrics = Metrics()
        _ = metrics.counter("a_total", "Never seen.", labels: ["kind"])
        _ = metrics.counter("b_total", "Nothing yet.")
        #expect(
            Exposition.text(metrics.families())
                == "# HELP b_total Nothing yet.\n# TYPE b_total counter\nb_total 0\n")
    }

    @Test func `the series of a metric are bounded and their sum stays true`() {
        let metrics = Metrics()
        let counter = metrics.counter("a_total", "Many.", labels: ["x", "y"])
        let count = 3 * Metrics.seriesMax
        for number in 0..<count { counter.add(1, "\(number)", "y") }
        // One that is known is still counted for itself.
        counter.add(1, "0", "y")
        let samples = metrics.families()[0].samples
        #expect(samples.count == Metrics.seriesMax + 1)
        #expect(samples.map(\.value).reduce(0, +) == Double(count + 1))
        let other = samples.first { $0.labels.map(\.value) == ["other", "other"] }
        #expect(other?.value == Double(count - Metrics.seriesMax))
        #expect(samples.first { $0.labels[0].value == "0" }?.value == 2)
    }

    @Test func `values recorded by many tasks at once are all counted`() async {
        let metrics = Metrics()
        let counter = metrics.counter("a_total", "Count.", labels: ["n"])
        let histogram = metrics.histogram("b_seconds", "Time.", .renders)
        await withDiscardingTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 {
                        counter.add(1, "\(task % 2)")
                        histogram.record(0.2)
                    }
                }
            }
        }
        let samples = metrics.families().flatMap(\.samples)
        #expect(samples.filter { $0.labels.first?.name == "n" }.map(\.value) == [4000, 4000])
        #expect(samples.last == MetricFamily.Sample(suffix: "_count", value: 8000))
    }
}
