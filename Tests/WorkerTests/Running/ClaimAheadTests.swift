import JobQueue
import Testing

@testable import Editing
@testable import RenderPool
@testable import Worker

@Suite("Jobs that a worker holds beyond its slots") struct ClaimAheadTests {
    private func times(travel: Duration, render: Duration) -> StageTimes {
        StageTimes(fetching: travel / 2, rendering: render, publishing: travel / 2)
    }

    @Test func `are none where no files travel`() {
        var ahead = ClaimAhead(slots: 0)
        ahead.note(times(travel: .seconds(10), render: .seconds(1)))
        #expect(ahead.jobs == 0)
    }

    @Test func `are as many as slots while nothing is known`() {
        #expect(ClaimAhead(slots: 4).jobs == 4)
    }

    @Test func `are those that travel on average while all slots render`() {
        var ahead = ClaimAhead(slots: 2)
        ahead.note(times(travel: .milliseconds(360), render: .milliseconds(280)))
        #expect(ahead.jobs == 3)
    }

    @Test func `are three for each slot at most, also where nothing is rendered`() {
        var ahead = ClaimAhead(slots: 2)
        ahead.note(times(travel: .seconds(1), render: .zero))
        #expect(ahead.jobs == 6)
    }

    @Test func `become fewer when the store gets faster, and one outage does not count for long`() {
        var ahead = ClaimAhead(slots: 2)
        ahead.note(times(travel: .seconds(60), render: .milliseconds(100)))
        for _ in 0..<60 { ahead.note(times(travel: .milliseconds(20), render: .milliseconds(100))) }
        #expect(ahead.jobs == 1)
    }

    @Test func `are claimed by a worker, and counted when they end`() async {
        let jobs = RunningJobs(slots: 2, filesTravel: true)
        #expect(await jobs.waitForFreeSlots() == 4)
        let hold = await jobs.begin(.init(job: "a", fence: "1"))
        hold.reach(.rendering)
        #expect(await jobs.waitForFreeSlots() == 3)
        await jobs.end(.init(job: "a", fence: "1"))
        // It did not travel.
        #expect(await jobs.waitForFreeSlots() == 2)
    }
}

@Suite("Slots of photos that are rendered") struct RenderSlotsTests {
    @Test func `are given in the order of those who ask`() async throws {
        let slots = RenderSlots(1)
        let (order, append) = AsyncStream.makeStream(of: Int.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await slots.use {
                append.yield(0)
                for await _ in gate { break }
            }
        }
        var seen = order.makeAsyncIterator()
        #expect(await seen.next() == 0)
        var others: [Task<Void, any Error>] = []
        for number in 1...3 {
            others.append(Task { try await slots.use { _ = append.yield(number) } })
            while slots.waiting < number { await Task.yield() }
        }
        open.yield()
        for number in 1...3 { #expect(await seen.next() == number) }
        for task in [first] + others { try await task.value }
    }

    @Test func `are not taken by a task that is cancelled while it waits`() async throws {
        let slots = RenderSlots(1)
        try await slots.use {
            let waiting = Task { try await slots.use {} }
            while slots.waiting == 0 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        try await slots.use {}
    }

    @Test func `are lent to others while their owner waits for something else`() async throws {
        let slots = RenderSlots(1)
        try await slots.use {
            try await slots.lend { try await slots.use {} }
            // It has it again.
            let waiting = Task { try await slots.use {} }
            while slots.waiting == 0 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        try await slots.use {}
    }

    @Test func `are no more and no fewer after an owner failed that had lent its own`()
        async throws
    {
        struct Broken: Error {}
        let slots = RenderSlots(1)
        await #expect(throws: Broken.self) {
            try await slots.use { try await slots.lend { throw Broken() } }
        }
        // An owner that is cancelled while it waits to have it again.
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (end, finish) = AsyncStream.makeStream(of: Void.self)
        let (steps, step) = AsyncStream.makeStream(of: String.self)
        var seen = steps.makeAsyncIterator()
        let owner = Task {
            try await slots.use {
                try await slots.lend {
                    step.yield("lent")
                    for await _ in gate { break }
                }
            }
        }
        #expect(await seen.next() == "lent")
        let other = Task {
            try await slots.use {
                step.yield("has it")
                for await _ in end { break }
            }
        }
        #expect(await seen.next() == "has it")
        open.yield()
        while slots.waiting == 0 { await Task.yield() }
        owner.cancel()
        await #expect(throws: CancellationError.self) { try await owner.value }
        finish.yield()
        try await other.value
        try await slots.use {
            let waiting = Task { try await slots.use {} }
            while slots.waiting == 0 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func `leave the cores of idle ones to a photo that is alone`() async throws {
        let slots = RenderSlots(4)
        #expect(slots.share == 4)
        try await slots.use {
            #expect(slots.share == 4)
            try await slots.use {
                #expect(slots.share == 2)
                try await slots.use {
                    #expect(slots.share == 1)
                    try await slots.use { #expect(slots.share == 1) }
                }
            }
        }
        #expect(slots.share == 4)
        #expect(RenderSlots(1024).share == RenderSlots.shareMax)
    }

    @Test func `are free again after a failure`() async throws {
        struct Fault: Error {}
        let slots = RenderSlots(1)
        await #expect(throws: Fault.self) { try await slots.use { throw Fault() } }
        try await slots.use {}
    }
}
