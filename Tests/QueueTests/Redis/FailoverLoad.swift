import MinilabTesting
import Synchronization
import Testing

@testable import Redis

/// Callers that push each a number of their own on one list until they are stopped, and what came
/// of each call.
final class FailoverLoad: Sendable {
    private struct Outcomes {
        var next = 0
        var pushed: Set<Int64> = []
        var notExecuted: Set<Int64> = []
        var isOver = false
    }

    static let key = "minilab:{photos}:list"
    private static let callers = 20

    private let outcomes = Mutex(Outcomes())

    /// How many calls had their reply.
    var pushedCount: Int { outcomes.withLock { $0.pushed.count } }

    /// Runs the callers while `body` does something to the servers.
    func run(on client: RedisClient, while body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.callers { group.addTask { await self.pushUntilStopped(client) } }
            do {
                try await body()
            } catch {
                outcomes.withLock { $0.isOver = true }
                throw error
            }
            outcomes.withLock { $0.isOver = true }
            try await group.waitForAll()
        }
    }

    /// Waits until `count` more calls have had their replies.
    func waitForMore(_ count: Int = 200) async throws {
        let before = pushedCount
        try await eventually("\(count) more calls are answered", within: .seconds(300)) {
            pushedCount >= before + count ? true : nil
        }
    }

    private func pushUntilStopped(_ client: RedisClient) async {
        while let number = outcomes.withLock({ state -> Int64? in
            guard !state.isOver else { return nil }
            state.next += 1
            return Int64(state.next)
        }) {
            let error = await failure { () throws(RedisError) in
                try await client.send(
                    ["RPUSH", RedisArgument(Self.key), RedisArgument(Int(number))],
                    timeout: .seconds(20))
            }
            outcomes.withLock { state in
                if let error {
                    if !error.mayHaveExecuted { state.notExecuted.insert(number) }
                } else {
                    state.pushed.insert(number)
                }
            }
        }
    }

    /// Checks the list: no number is there twice, and none whose call says that it was not executed.
    ///
    /// - Parameter mayLose: Whether a master died, with calls that it had not told its replica of.
    func check(on client: RedisClient, mayLose: Bool) async throws {
        let reply = try await client.send(["LRANGE", RedisArgument(Self.key), 0, -1])
        let numbers = (reply.array ?? []).compactMap(\.int)
        let present = Set(numbers)
        #expect(numbers.count == present.count, "a call was executed twice")
        let (pushed, notExecuted) = outcomes.withLock { ($0.pushed, $0.notExecuted) }
        #expect(present.isDisjoint(with: notExecuted))
        if !mayLose { #expect(pushed.isSubset(of: present)) }
    }
}
