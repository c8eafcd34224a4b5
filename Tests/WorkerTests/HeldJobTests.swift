import JobQueue
import Synchronization
import Testing

@testable import RenderPool
@testable import Worker

@Suite("Held job") struct HeldJobTests {
    /// Never ends by itself.
    private func forever() async throws {
        try await Task.sleep(for: .seconds(3600))
    }

    @Test(arguments: [true, false])
    func `work ends when the job is lost or the worker stops`(isLost: Bool) async throws {
        let hold = HeldJob()
        let (running, signal) = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            try await hold.whileHeld {
                signal.yield()
                try await forever()
            }
        }
        for await _ in running { break }
        if isLost { hold.end(.lost) } else { hold.stop() }
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(hold.isLost == isLost)
        #expect(hold.isStopping == !isLost)
    }

    @Test func `work does not start in earnest when the hold is over already`() async throws {
        let hold = HeldJob()
        hold.end(.lost)
        await #expect(throws: CancellationError.self) {
            try await hold.whileHeld { try await forever() }
        }
    }

    @Test func `slots bound the jobs and closing ends the wait`() async throws {
        let jobs = RunningJobs(slots: 2)
        #expect(await jobs.waitForFreeSlots() == 2)
        _ = await jobs.begin(Hold(job: "a", fence: "1"))
        #expect(await jobs.waitForFreeSlots() == 1)
        _ = await jobs.begin(Hold(job: "b", fence: "1"))
        async let free = jobs.waitForFreeSlots()
        await jobs.end(Hold(job: "a", fence: "1"))
        #expect(await free == 1)
        _ = await jobs.begin(Hold(job: "c", fence: "1"))
        async let closed = jobs.waitForFreeSlots()
        await jobs.close()
        #expect(await closed == nil)
    }

    @Test func `a job that is claimed again begins when the render of the old hold has ended`()
        async throws
    {
        let jobs = RunningJobs(slots: 2)
        let (old, new) = (Hold(job: "a", fence: "1"), Hold(job: "a", fence: "2"))
        let first = await jobs.begin(old)
        let second = await jobs.begin(new)
        #expect(first.isLost && !second.isLost)
        async let begins: Void = jobs.waitForOlder(than: new)
        async let free = jobs.waitForFreeSlots()
        // Both have slots until the old one's render has ended.
        await jobs.end(old)
        await begins
        #expect(await free == 1)
        await jobs.waitForOlder(than: old)
        await jobs.cancel([.job("a")])
        #expect(second.isCancelled)
        await jobs.end(new)
        #expect(await jobs.isIdle)
    }

    @Test func `while memory is short a worker takes one job when it has none, or none at all`()
        async throws
    {
        let jobs = RunningJobs(slots: 4)
        await jobs.follow(.holding)
        #expect(await jobs.waitForFreeSlots() == 1)
        _ = await jobs.begin(Hold(job: "a", fence: "1"))
        async let freed = jobs.waitForFreeSlots()
        await jobs.follow(.shrinking)
        await jobs.end(Hold(job: "a", fence: "1"))
        #expect(await freed == 1)
        await jobs.follow(.pausing)
        async let calm = jobs.waitForFreeSlots()
        await jobs.follow(.requeueing)
        await jobs.follow(.calm)
        #expect(await calm == 4)
        await jobs.follow(.requeueing)
        async let closed = jobs.waitForFreeSlots()
        await jobs.close()
        #expect(await closed == nil)
    }
}
