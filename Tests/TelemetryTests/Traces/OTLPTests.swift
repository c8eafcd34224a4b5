import Edits
import Testing
import Telemetry

@Suite("Spans as OTLP writes them") struct OTLPTests {
    private static let traceparent = Traceparent(
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!
    private let encoding = OTLP(service: "minilab-worker", version: "1.0", instance: "host-1")

    @Test func `a request is what the specification's example looks like`() {
        let span = FinishedSpan(
            name: "render", kind: .consumer, traceparent: Self.traceparent, parent: SpanID(1),
            begin: 1_544_712_660_000_000_000, end: 1_544_712_661_000_000_000,
            attributes: [
                .init("flag", .flag(true)), .init("list", .list([.text("a"), .whole(-1)])),
                .init("number", .number(1.5)), .init("text", .text("\"é\n")),
                .init("whole", .whole(.max)),
            ],
            events: [.init(name: "written", time: 5, attributes: [.init("output", .whole(0))])],
            status: .error("it broke"))
        #expect(
            encoding.request([span])
                == #"{"resourceSpans":[{"resource":{"attributes":["#
                + #"{"key":"service.instance.id","value":{"stringValue":"host-1"}},"#
                + #"{"key":"service.name","value":{"stringValue":"minilab-worker"}},"#
                + #"{"key":"service.version","value":{"stringValue":"1.0"}}]},"#
                + #""scopeSpans":[{"scope":{"name":"minilab","version":"1.0"},"spans":[{"attributes":["#
                + #"{"key":"flag","value":{"boolValue":true}},"#
                + #"{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{"intValue":"-1"}]}}},"#
                + #"{"key":"number","value":{"doubleValue":1.5}},"#
                + #"{"key":"text","value":{"stringValue":"\"é\n"}},"#
                + #"{"key":"whole","value":{"intValue":"9223372036854775807"}}],"#
                + #""endTimeUnixNano":"1544712661000000000","#
                + #""events":[{"attributes":[{"key":"output","value":{"intValue":"0"}}],"name":"written","timeUnixNano":"5"}],"#
                + #""flags":1,"kind":5,"name":"render","parentSpanId":"0000000000000001","#
                + #""spanId":"00f067aa0ba902b7","startTimeUnixNano":"1544712660000000000","#
                + #""status":{"code":2,"message":"it broke"},"traceId":"4bf92f3577b34da6a3ce929d0e0e4736"}]}]}]}"#
        )
    }

    @Test func `a first span has no parent, and no status unless somebody says`() throws {
        let span = FinishedSpan(
            name: "a", kind: .internal, traceparent: Self.traceparent, parent: nil, begin: 9, end: 3
        )
        let text = encoding.request([span])
        #expect(!text.contains("parentSpanId") && !text.contains("status"))
        #expect(text.contains(#""endTimeUnixNano":"9""#), "a clock that was set back")
        _ = try JSONValue(parsing: text, as: "request")
    }

    @Test(arguments: [
        (#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}"#, 3),
        (#"{"partialSuccess":{"rejectedSpans":2}}"#, 2), (#"{"partialSuccess":{}}"#, 0),
        ("{}", 0), ("", 0), ("<html>", 0), (#"{"partialSuccess":{"rejectedSpans":"-1"}}"#, 0),
        (#"{"partialSuccess":{"rejectedSpans":1e300}}"#, 0),
    ])
    func `an answer says how many were not accepted`(answer: String, count: Int) {
        #expect(OTLP.rejected(answer) == count)
    }
}
