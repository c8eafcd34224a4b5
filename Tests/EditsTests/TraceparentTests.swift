import Edits
import Testing

@Suite("Positions in a trace") struct TraceparentTests {
    static let plain = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `one is written as it was read`() throws {
        let traceparent = try #require(Traceparent(Self.plain))
        #expect("\(traceparent.trace)" == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect("\(traceparent.span)" == "00f067aa0ba902b7")
        #expect(traceparent.isSampled)
        #expect("\(traceparent)" == Self.plain)
    }

    @Test(arguments: [("00", false), ("01", true), ("02", false), ("03", true), ("ff", true)])
    func `of the flags sampled alone is known`(flags: String, isSampled: Bool) throws {
        let traceparent = try #require(Traceparent(Self.plain.dropLast(2) + flags))
        #expect(traceparent.isSampled == isSampled)
        #expect("\(traceparent)".hasSuffix(isSampled ? "-01" : "-00"))
    }

    @Test(arguments: ["", "-what-comes-later", "-"])
    func `of a later version what this one knows is read`(rest: String) throws {
        let traceparent = try #require(Traceparent("cc" + Self.plain.dropFirst(2) + rest))
        #expect("\(traceparent)" == Self.plain)
    }

    @Test(arguments: [
        "", "00", plain + "-", plain + "-00", plain + "0", " " + plain,
        "ff" + plain.dropFirst(2), "cc" + plain.dropFirst(2) + "0", "0g" + plain.dropFirst(2),
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902é-01",
    ])
    func `what is not valid is none`(text: String) { #expect(Traceparent(text) == nil) }

    @Test func `names have all their digits`() throws {
        #expect(TraceID(high: 0, low: 0) == nil && SpanID(0) == nil)
        #expect("\(try #require(TraceID(high: 0, low: 10)))" == "0000000000000000000000000000000a")
        #expect("\(try #require(SpanID(255)))" == "00000000000000ff")
        #expect("\(TraceID.random())".count == 32)
    }

    @Test func `a job keeps a valid one and passes over any other`() throws {
        func job(_ field: String) throws -> JobRequest {
            try JobRequest(
                json: #"{"asset":"a.jpg","edit":{"filters":[]},"traceparent":"\#(field)"}"#)
        }
        let kept = try job(Self.plain).scheduling
        #expect(kept.fields.map(\.name) == ["traceparent"] && kept.fields[0].value == Self.plain)
        #expect(try job("no trace").scheduling == Scheduling())
    }
}
