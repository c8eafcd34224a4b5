import Edits
import ServiceTesting
import Logging
import MinilabTesting
import ServiceLifecycleTestKit
import SystemPackage
@testable import Telemetry
import Testing
import Tracing

@Suite("Sending spans") struct TraceExporterTests {
    private func exporter(_ settings: TraceSettings) -> TraceExporter {
        TraceExporter(
            settings, OTLP(service: "s", version: "1", instance: "i"),
            logger: Logger(label: "test"))
    }

    private func exporter(to collector: StubServer) -> TraceExporter {
        var settings = TraceSettings()
        settings.endpoint = TraceSettings.url(ofBase: "http://127.0.0.1:\(collector.port)")
        return exporter(settings)
    }

    /// Ends so many spans.
    private func end(_ count: Int, of exporter: TraceExporter) {
        for n in 0..<count { exporter.tracer.startSpan("s\(n)").end() }
    }

    /// A count of a metric, of one label or of all.
    private func count(_ exporter: TraceExporter, _ name: String, _ label: String? = nil) -> Int {
        let samples = exporter.families().filter { $0.name.contains(name) }.flatMap(\.samples)
        return Int(
            samples.filter { label == nil || $0.labels.contains { $0.value == label } }
                .reduce(0) { $0 + $1.value })
    }

    /// Runs an exporter while the body does, and through its shutdown.
    private func run(
        _ exporter: TraceExporter, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { await exporter.run() }
                try await body()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    private func names(_ collector: StubServer) throws -> [String] {
        collector.requests.flatMap { message in
            message.text.matches(of: /"name":"(s[0-9]+)"/).map { String($0.1) }
        }
    }

    @Test func `all spans come, once and in their order, and the last ones at the end`()
        async throws
    {
        let collector = try await StubServer.start { _ in .reply(200, [], "{}") }
        let exporter = exporter(to: collector)
        try await run(exporter) { end(1300, of: exporter) }
        #expect(try names(collector) == (0..<1300).map { "s\($0)" })
        #expect(collector.requests.count >= 3)
        #expect(collector.requests.allSatisfy { $0.header("content-type") == "application/json" })
        #expect(count(exporter, "sent", "collector") == 1300)
        #expect(count(exporter, "dropped") == 0)
    }

    @Test(arguments: [429, 503])
    func `a collector that asks for patience gets it, and the spans`(status: Int) async throws {
        let collector = try await StubServer.start {
            $0.number == 1 ? .reply(status, [("retry-after", "0")]) : .reply(200)
        }
        let exporter = exporter(to: collector)
        try await run(exporter) {
            end(1, of: exporter)
            try await eventually("they are taken") {
                count(exporter, "sent") == 1 ? () : nil
            }
        }
        #expect(try names(collector) == ["s0", "s0"])
    }

    @Test func `what a collector refuses is dropped at once, and counted`() async throws {
        let collector = try await StubServer.start { message in
            message.number == 1
                ? .reply(400, [], "bad")
                : .reply(200, [], #"{"partialSuccess":{"rejectedSpans":"2"}}"#)
        }
        let exporter = exporter(to: collector)
        try await run(exporter) {
            end(SpanBuffer.batchMax, of: exporter)
            try await eventually("it is asked") { collector.requests.count == 1 ? () : nil }
            end(5, of: exporter)
        }
        #expect(collector.requests.count == 2)
        #expect(count(exporter, "dropped", "refused") == SpanBuffer.batchMax + 2)
        #expect(count(exporter, "sent") == 3)
    }

    @Test func `a collector that never answers holds nobody up, and memory is bounded`()
        async throws
    {
        let collector = try await StubServer.start { _ in .silence }
        let exporter = exporter(to: collector)
        let begin = ContinuousClock.now
        try await run(exporter) {
            end(1, of: exporter)
            try await eventually("it is asked") { collector.requests.isEmpty ? nil : () }
            end(SpanBuffer.spansMax + 1000, of: exporter)
            #expect(count(exporter, "dropped", "full") == 1000)
        }
        // The end is not held up for longer than spans may take, on a machine with much else to do.
        #expect(ContinuousClock.now - begin < .seconds(60))
        #expect(count(exporter, "dropped") == SpanBuffer.spansMax + 1001)
        #expect(count(exporter, "sent") == 0)
    }

    @Test func `an answer that comes a byte at a time is not waited for`() async throws {
        let stub = try await StubServer.start { _ in .trickle }
        let collector = TraceCollector(
            "http://127.0.0.1:\(stub.port)/v1/traces", timeout: .milliseconds(500))
        let answer = await collector.send("{}")
        await collector.close()
        #expect(answer.answer == .none && answer.reason.contains("no whole answer"))
    }

    @Test func `a collector that is not there costs spans, not the end`() async throws {
        let collector = try await StubServer.start { _ in .hangUp }
        let exporter = exporter(to: collector)
        try await run(exporter) { end(3, of: exporter) }
        #expect(count(exporter, "dropped") == 3)
    }

    @Test func `a file gets a request on each line, and is moved aside when it is long`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.file("traces.jsonl")
        var settings = TraceSettings()
        settings.file = FilePath(path)
        let exporter = exporter(settings)
        try await run(exporter) { end(600, of: exporter) }
        let lines = folder.text(of: "traces.jsonl").split(separator: "\n")
        #expect(lines.count == 2)
        for line in lines { _ = try JSONValue(parsing: String(line), as: "line") }
        #expect(count(exporter, "sent", "file") == 600)

        let short = TraceFile(FilePath(path + "2"), bytesMax: 10)
        for line in ["one", "more than ten", "three"] { try await short.append(line) }
        #expect(folder.text(of: "traces.jsonl2.1") == "one\nmore than ten\n")
        #expect(folder.text(of: "traces.jsonl2") == "three\n")
    }

    @Test func `a file that cannot be written costs spans, and says why`() async throws {
        var settings = TraceSettings()
        settings.file = "/proc/no/such/file"
        let exporter = exporter(settings)
        try await run(exporter) { end(3, of: exporter) }
        #expect(count(exporter, "dropped", "file") == 3)
    }

    @Test(arguments: [
        ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
        ("https://c.example.com/otel/", "https://c.example.com/otel/v1/traces"),
        ("http://[::1]:4318/v1/traces", "http://[::1]:4318/v1/traces"),
        ("http://user:secret@host", nil), ("http://host/?a=b", nil), ("ftp://host", nil),
        ("host:4318", nil), ("", nil), ("http://host/a b", nil),
    ])
    func `a base is completed with the path of traces`(text: String, url: String?) {
        #expect(TraceSettings.url(ofBase: text) == url)
    }
}
