import Edits
import Testing
import Telemetry

@Suite("Spans that wait, and what becomes of them") struct SpanBufferTests {
    private func span(_ name: String = "a", text: Int = 0) -> FinishedSpan {
        FinishedSpan(
            name: name, kind: .internal,
            traceparent: Traceparent(trace: .random(), span: .random(), isSampled: true),
            parent: nil,
            begin: 0, end: 1,
            attributes: text == 0
                ? [] : [.init("t", .text(String(repeating: "x", count: text)))])
    }

    /// Adds spans until one is refused, or so many are in.
    private func fill(_ buffer: inout SpanBuffer, _ spans: [FinishedSpan]) -> Int {
        var kept = 0
        for span in spans where buffer.add(span) { kept += 1 }
        return kept
    }

    private func batches(_ buffer: inout SpanBuffer) -> [[FinishedSpan]] {
        var batches: [[FinishedSpan]] = []
        while case let batch = buffer.removeBatch(), !batch.isEmpty { batches.append(batch) }
        return batches
    }

    @Test func `they leave in the order in which they came, in requests of bounded length`() {
        var buffer = SpanBuffer()
        let kept = fill(&buffer, (0..<1000).map { span("\($0)") })
        #expect(kept == 1000 && buffer.hasBatch)
        let batches = batches(&buffer)
        #expect(batches.map(\.count) == [SpanBuffer.batchMax, 1000 - SpanBuffer.batchMax])
        #expect(batches.joined().map(\.name) == (0..<1000).map { "\($0)" })
        #expect(buffer.count == 0 && !buffer.hasBatch)
    }

    @Test func `large ones are few in a request, and one at least`() {
        var buffer = SpanBuffer()
        let large = SpanBuffer.batchBytesMax * 2 / 3
        let sizes = [large, large, large, 2 * SpanBuffer.batchBytesMax]
        let kept = fill(&buffer, sizes.map { span(text: $0) })
        #expect(kept == 4 && buffer.hasBatch)
        let counts = batches(&buffer).map(\.count)
        #expect(counts == [1, 1, 1, 1])
    }

    @Test func `what has no room is refused, by number and by bytes`() {
        var buffer = SpanBuffer()
        let small = Array(repeating: span(), count: SpanBuffer.spansMax + 10)
        let keptSmall = fill(&buffer, small)
        #expect(keptSmall == SpanBuffer.spansMax)
        _ = batches(&buffer)
        let large = span(text: 100_000)
        let fitting = SpanBuffer.bytesMax / large.bytes
        let keptLarge = fill(&buffer, Array(repeating: large, count: fitting + 10))
        #expect(keptLarge == fitting)
        _ = batches(&buffer)
        let again = fill(&buffer, [large])
        #expect(again == 1)
    }

    @Test(arguments: [
        (ExportPolicy.Answer.status(200), 1, ExportPolicy.Step.done),
        (.status(202), 5, .done), (.status(400), 1, .drop), (.status(301), 1, .drop),
        (.status(500), 1, .drop), (.status(429), 5, .drop), (.none, 5, .drop),
        (.none, 1, .again(.seconds(1))), (.status(503), 2, .again(.seconds(2))),
        (.status(502), 3, .again(.seconds(4))), (.status(504), 4, .again(.seconds(8))),
        (.status(429, retryAfter: 7), 1, .again(.seconds(7))),
        (.status(503, retryAfter: 0), 1, .again(.seconds(1))),
        (.status(503, retryAfter: 86_400), 1, .again(.seconds(30))),
    ])
    func `an answer says what follows`(
        answer: ExportPolicy.Answer, number: Int, step: ExportPolicy.Step
    ) {
        #expect(ExportPolicy.step(after: answer, try: number, random: 1) == step)
    }

    @Test func `a wait is spread over half of its length`() {
        #expect(ExportPolicy.step(after: .none, try: 3, random: 0) == .again(.seconds(2)))
    }
}
