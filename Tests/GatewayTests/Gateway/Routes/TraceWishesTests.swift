import AccessKeys
import Edits
import JobQueue
import MinilabTesting
import Telemetry
import Testing
import Tracing

@testable import Gateway

@Suite("Traces that clients want recorded") struct TraceWishesTests {
    private static let parent = Traceparent(
        trace: .random(), span: .random(), isSampled: true)

    @Test func `are granted a number of times, and then begin anew`() {
        let wishes = TraceWishes()
        for _ in 0..<TraceWishes.atOnce {
            let context = wishes.context(following: Self.parent, of: "a")
            #expect(context.traceparent == Self.parent)
        }
        var refused = 0
        for _ in 0..<TraceWishes.atOnce
        where wishes.context(following: Self.parent, of: "a").traceparent == nil {
            refused += 1
        }
        // Some come back meanwhile.
        #expect(refused > TraceWishes.atOnce / 2)
        #expect(wishes.context(following: Self.parent, of: "b").traceparent == Self.parent)
    }

    /// Behind a proxy, all clients have one address.
    @Test func `are those of a key, whatever others at its address want`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        try await eventually("the gateway knows it") {
            rig.parts.keys.knownID(of: key) == nil ? nil : true
        }
        var wanted: [String: String] = [:]
        for number in 1...5 {
            for _ in 0..<2 * TraceWishes.atOnce {
                _ = rig.parts.limits.traceWishes.context(following: Self.parent, of: "127.0.0.1")
            }
            let parent = Traceparent(trace: .random(), span: .random(), isSampled: true)
            wanted["acme.o\(number)"] = parent.description
            let answer = try await rig.send(
                "POST", "/v1/jobs", key: key,
                json: #"{"id":"o\#(number)","asset":"acme/\#(number).jpg","edit":{"filters":[]}}"#,
                headers: ["traceparent": parent.description])
            #expect(answer.status == 202, "\(answer.text)")
        }
        _ = try await rig.queue.admit()
        var found: [String: String] = [:]
        for _ in 1...5 {
            let claim = try #require(try await rig.queue.claim(by: "w", count: 1).jobs.first)
            found[claim.job] = claim.traceparent?.description
        }
        #expect(found == wanted)
    }

    @Test func `are not counted where nothing is wanted`() {
        let wishes = TraceWishes()
        let silent = Traceparent(trace: .random(), span: .random(), isSampled: false)
        for _ in 0..<2 * TraceWishes.atOnce {
            #expect(wishes.context(following: silent, of: "a").traceparent == silent)
        }
        #expect(wishes.context(following: nil, of: "a").traceparent == nil)
    }
}
