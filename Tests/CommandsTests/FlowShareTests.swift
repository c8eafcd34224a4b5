import Foundation
import JobQueue
import Testing

@testable import Operations

@Suite("Shares of the work") struct FlowShareTests {
    private func flow(
        _ tenant: String, _ start: Int, priority: String = "bulk", isCapped: Bool = false
    ) throws -> QueueStatus.Flow {
        try JSONDecoder().decode(
            QueueStatus.Flow.self,
            from: Data(
                #"{"priority":"\#(priority)","tenant":"\#(tenant)","ready":5,"start":\#(start),"isCapped":\#(isCapped)}"#
                    .utf8))
    }

    @Test func `flows that advance alike had what their weights are due`() throws {
        let shares = FlowShare.shares(
            from: [try flow("a", 100), try flow("b", 110)],
            to: [try flow("a", 600), try flow("b", 610)], weights: ["b": 3])
        #expect(shares["bulk:a"] == FlowShare(had: 0.25, due: 0.25))
        #expect(shares["bulk:b"] == FlowShare(had: 0.75, due: 0.75))
    }

    @Test func `a flow that stood still had nothing of what it was due`() throws {
        let shares = FlowShare.shares(
            from: [try flow("a", 0), try flow("b", 50)],
            to: [try flow("a", 900), try flow("b", 40)], weights: [:])
        #expect(shares["bulk:a"] == FlowShare(had: 1, due: 0.5))
        #expect(shares["bulk:b"] == FlowShare(had: 0, due: 0.5))
    }

    @Test
    func `flows at a cap, flows that came or went, and idle priorities have no share`() throws {
        let shares = FlowShare.shares(
            from: [
                try flow("capped", 0, isCapped: true), try flow("gone", 0), try flow("stays", 0),
                try flow("idle", 7, priority: "normal"),
            ],
            to: [
                try flow("capped", 900), try flow("new", 900), try flow("stays", 900),
                try flow("idle", 7, priority: "normal"),
            ], weights: [:])
        #expect(shares == ["bulk:stays": FlowShare(had: 1, due: 1)])
    }

    @Test func `marks reach back a minute, and are ten seconds apart`() throws {
        var marks = FlowMarks()
        let start = ContinuousClock.now
        for second in 0...70 {
            marks.note([try flow("a", second)], at: start + .seconds(second))
            #expect(marks.oldest?.first?.start == max(0, (second - 51) / 10 * 10))
        }
    }
}
