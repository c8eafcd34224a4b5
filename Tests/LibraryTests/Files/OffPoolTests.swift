import Edits
import Files
import Foundation
import Testing

@Suite("Work and the cancellation of its task") struct OffPoolTests {
    @Test func `what is done to its end is not stopped with the task that waits for it`()
        async throws
    {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (open, opening) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await toItsEnd {
                begin.yield()
                for await _ in open { break }
                try Task.checkCancellation()
                return "done"
            }
        }
        for await _ in begun { break }
        task.cancel()
        opening.yield()
        #expect(try await task.value == "done")
        let failing = Task<Void, any Error> {
            try await toItsEnd { throw Failure(.noSpace, "full") }
        }
        failing.cancel()
        await #expect(throws: Failure.self) { try await failing.value }
    }

    /// Each call ends only when all have begun, so with fewer threads than calls none would end.
    @Test(.timeLimit(.minutes(1))) func `calls that block do not wait for each other`()
        async throws
    {
        let meetings = Meetings(of: BlockingThreads.callsMax)
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<BlockingThreads.callsMax {
                group.addTask { try await offPool { () throws(Failure) in meetings.wait() } }
            }
        }
        #expect(meetings.mostAtATime == BlockingThreads.callsMax)
    }

    @Test(.timeLimit(.minutes(1))) func `no more calls run at a time than there are threads`() async
    {
        let threads = BlockingThreads(callsMax: 3)
        let meetings = Meetings(of: 3)
        await withDiscardingTaskGroup { group in
            for _ in 0..<60 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        threads.run {
                            meetings.wait()
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(meetings.mostAtATime == 3)
    }
}

/// Meetings of some threads each: the last one to come lets all of its meeting go.
private final class Meetings: @unchecked Sendable {
    private let size: Int
    private let condition = NSCondition()
    private var (here, most, meeting) = (0, 0, 0)

    init(of size: Int) { self.size = size }

    /// The most threads that were in ``wait()`` at a time.
    var mostAtATime: Int { condition.withLock { most } }

    func wait() {
        condition.withLock {
            here += 1
            most = max(most, here)
            let mine = meeting
            guard here < size else {
                (here, meeting) = (here - size, meeting + 1)
                return condition.broadcast()
            }
            while mine == meeting { condition.wait() }
        }
    }
}
