import Edits
import Logging
import Synchronization
import Testing
import Telemetry
import Tracing

/// Spans that a recorder has handed on.
private final class Ended: Sendable {
    private let list = Mutex<[FinishedSpan]>([])
    func add(_ span: FinishedSpan) { list.withLock { $0.append(span) } }
    var spans: [FinishedSpan] { list.withLock { $0 } }

    func recording<Result>(
        share: Double = 1, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await withTracer(SpanRecorder(share: share) { [self] in add($0) }, body)
    }
}

@Suite("Spans that are recorded") struct SpanRecorderTests {
    private static let caller = Traceparent(
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!

    @Test func `a span is part of the one that it is in, and of the caller's`() async {
        let ended = Ended()
        await ended.recording {
            await inSpan("outer", .server, in: .following(Self.caller)) { _ in
                await inSpan("inner", with: ["n": 3]) { span in span.attributes["m"] = "x" }
            }
        }
        let (inner, outer) = (ended.spans[0], ended.spans[1])
        #expect(outer.traceparent.trace == Self.caller.trace && outer.parent == Self.caller.span)
        #expect(
            inner.traceparent.trace == Self.caller.trace && inner.parent == outer.traceparent.span)
        #expect(outer.kind == .server && inner.kind == .internal)
        #expect(inner.attributes == [.init("m", .text("x")), .init("n", .whole(3))])
        #expect(outer.begin <= inner.begin && inner.end <= outer.end)
    }

    @Test func `a caller that does not record is obeyed, and its place goes on`() async {
        let ended = Ended()
        let caller = Traceparent(
            trace: Self.caller.trace, span: Self.caller.span, isSampled: false)
        await ended.recording {
            await inSpan("a", in: .following(caller)) { span in
                #expect(!span.isRecording)
                #expect(ServiceContext.current?.traceparent == caller)
            }
        }
        #expect(ended.spans.isEmpty)
    }

    @Test(arguments: [0.0, 0.25, 1])
    func `of traces that begin here a share is recorded, the same ones everywhere`(
        share: Double
    ) async throws {
        let (one, two) = (Ended(), Ended())
        let traces = (0..<2000).map { _ in TraceID.random() }
        for ended in [one, two] {
            await ended.recording(share: share) {
                for trace in traces {
                    await inSpan("a", in: .following(nil, orBeginning: trace)) { _ in }
                }
            }
        }
        #expect(one.spans.map(\.traceparent.trace) == two.spans.map(\.traceparent.trace))
        #expect(one.spans.allSatisfy { $0.parent == nil })
        // 2000 draws: 0.25 ± 7 standard deviations.
        #expect(abs(Double(one.spans.count) / 2000 - share) < 0.07)
    }

    @Test func `an error keeps its type, and its span says it without what it may quote`() async {
        struct Secret: Error { let token = "hunter2" }
        let ended = Ended()
        await ended.recording {
            let failure = await #expect(throws: Failure.self) {
                try await inSpan("a") { _ throws(Failure) in throw Failure(.noSpace, "it is full") }
            }
            #expect(failure?.code == .noSpace)
            await #expect(throws: Secret.self) { try await inSpan("b") { _ in throw Secret() } }
        }
        #expect(ended.spans.map(\.status) == [.error("it is full"), .error("Secret")])
        #expect(ended.spans[0].attributes == [.init("error.type", .text("noSpace"))])
        #expect(!"\(ended.spans)".contains("hunter2"))
    }

    @Test func `a span is bounded, and ends once`() async {
        let ended = Ended()
        await ended.recording {
            await inSpan(String(repeating: "n", count: 5000)) { span in
                for n in 0..<500 {
                    span.attributes["a\(n)"] = String(repeating: "x", count: 5000)
                    span.addEvent(SpanEvent(name: "e"))
                }
                span.end()
                span.end()
            }
        }
        #expect(ended.spans.count == 1)
        let span = ended.spans[0]
        #expect(span.name.count == FinishedSpan.textMax)
        #expect(span.attributes.count == FinishedSpan.attributesMax)
        #expect(span.events.count == FinishedSpan.eventsMax)
        #expect(span.bytes < 100_000)
    }

    @Test func `a span that has passed is noted with its length`() async throws {
        let ended = Ended()
        await ended.recording { noteSpan("wait", lasting: .milliseconds(1500)) }
        let span = try #require(ended.spans.first)
        #expect(span.end - span.begin == 1_500_000_000)
    }

    @Test func `without a tracer the work runs, and the caller's place goes on`() async {
        let traceparent = await inSpan("a", in: .following(Self.caller)) { span in
            #expect(!span.isRecording)
            return ServiceContext.current?.traceparent
        }
        #expect(traceparent == Self.caller)
    }

    @Test func `lines of a log name the span that they are of`() async {
        #expect(Logger.MetadataProvider.trace.get().isEmpty)
        await inSpan("a", in: .following(Self.caller)) { _ in
            #expect(
                Logger.MetadataProvider.trace.get() == [
                    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7",
                ])
        }
    }
}
