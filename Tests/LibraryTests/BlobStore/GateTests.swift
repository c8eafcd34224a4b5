import Edits
import MinilabTesting
import Testing

@testable import BlobStore

@Suite("Concurrency gate", .timeLimit(.minutes(10))) struct GateTests {
    @Test func `those beyond the limit wait in their order`() async throws {
        let gate = ConcurrencyGate(max: 1)
        _ = try await gate.enter()
        let (order, entered) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...3 {
                group.addTask {
                    _ = try await gate.enter()
                    entered.yield(number)
                    gate.leave()
                }
                try await eventually("\(number) wait") { gate.waiting == number ? true : nil }
            }
            gate.leave()
            try await group.waitForAll()
        }
        entered.finish()
        #expect(await order.reduce(into: []) { $0.append($1) } == [1, 2, 3])
    }

    @Test func `one that is cancelled leaves the queue`() async throws {
        let gate = ConcurrencyGate(max: 1)
        _ = try await gate.enter()
        let waiter = Task { await failure { () throws(BlobError) in try await gate.enter() } }
        try await eventually("it waits") { gate.waiting == 1 ? true : nil }
        waiter.cancel()
        #expect(await waiter.value?.code == .cancelled)
        #expect(gate.waiting == 0)
        gate.leave()
        _ = try await gate.enter()
    }

    @Test func `after a request to slow down fewer enter`() async throws {
        let gate = ConcurrencyGate(max: 2)
        let generation = try await gate.enter()
        _ = try await gate.enter()
        gate.slowDown(in: generation)
        #expect(gate.limit == 1)
        let waiter = Task { try await gate.enter() }
        try await eventually("it waits") { gate.waiting == 1 ? true : nil }
        gate.leave()
        #expect(gate.waiting == 1)
        gate.leave()
        _ = try await waiter.value
    }
}
