import Testing

@testable import Operations

@Suite("Which workers of a fleet start and stop") struct FleetPlanTests {
    private func members(_ busy: Int?...) -> [FleetPlan.Member] {
        busy.enumerated().map { .init(number: $0.offset + 1, busy: $0.element) }
    }

    private func plan(
        _ members: [FleetPlan.Member], wanted: Int, others: Int = 0,
        _ range: ClosedRange<Int> = 1...8
    ) -> FleetPlan { FleetPlan(members, wanted: wanted, others: others, of: range) }

    @Test func `missing workers start, within the fleet's own ends`() {
        #expect(plan(members(1, 1), wanted: 5).start == 3)
        #expect(plan(members(1, 1), wanted: 500).start == 6)
        #expect(plan([], wanted: 0).start == 1)
        #expect(plan(members(0, 0), wanted: 2) == plan(members(1, 1), wanted: 2))
        #expect(plan(members(0, 0), wanted: 2).start == 0)
    }

    @Test func `workers elsewhere count`() {
        #expect(plan(members(1), wanted: 5, others: 3).start == 1)
        #expect(plan(members(0, 0, 0), wanted: 5, others: 9).stop == [3, 2])
    }

    @Test func `none is stopped that holds a job, or that the queue has not heard of`() {
        #expect(plan(members(0, 2, nil, 0, 1), wanted: 1).stop == [4, 1])
        #expect(plan(members(1, 2, nil), wanted: 0).stop == [])
    }

    @Test func `the youngest are stopped first`() {
        #expect(plan(members(0, 0, 0, 0), wanted: 2).stop == [4, 3])
    }

    @Test func `a worker that ends by itself is replaced later and later, one that ran long soon`()
    {
        var backoff = FleetBackoff()
        let now = ContinuousClock.now
        #expect(backoff.isOver(at: now))
        var waits: [Duration] = []
        for _ in 0..<9 {
            backoff.note(after: .seconds(2), at: now)
            waits.append((backoff.until ?? now) - now)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) })
        #expect(!backoff.isOver(at: now + .seconds(59)) && backoff.isOver(at: now + .seconds(60)))
        backoff.note(after: .seconds(59), at: now)
        #expect(backoff.until == now + .seconds(60))
        backoff.note(after: .seconds(60), at: now)
        #expect(backoff.until == now + .seconds(1))
    }
}
