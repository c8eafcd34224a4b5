import Edits
import FoundationEssentials
import Redis
import Synchronization
import Testing

@testable import JobQueue

/// A Redis that comes back with less than it had does not know it; the library does.
@Suite("The generation of a queue") struct QueueGenerationTests {
    /// What a library keeps.
    private final class Notes: Sendable {
        let note = Mutex<[UInt8]?>(nil)

        func compare(
            _ q: QueueFixture, isRaised: Bool = true
        ) async throws -> QueueLoss.Noticed? {
            try await q.queue.compareGeneration(
                isRaised: isRaised, note: { note.withLock { $0 } },
                keep: { bytes in note.withLock { $0 = bytes } })
        }

        /// Compares as a program does.
        func compare(_ watch: GenerationWatch) async {
            await watch.compare(
                note: { note.withLock { $0 } }, keep: { bytes in note.withLock { $0 = bytes } })
        }

        var generations: [QueueGenerations.Generation] {
            get throws {
                try QueueGenerations(note.withLock { $0 }, of: .photos).known
            }
        }
    }

    private let notes = Notes()

    @Test func `a queue that loses nothing is never poorer, whoever compares`() async throws {
        let q = try await QueueFixture()
        #expect(try await q.queue.lossWarnings().map { $0.contains("has no library") } == [true])
        _ = try await q.queue.join(QueueLibrary(id: "11", name: "/srv/one"))
        #expect(try await notes.compare(q, isRaised: false) == nil)
        #expect(try notes.generations == [], "a gateway has nothing remembered")
        for turn in 1...3 {
            #expect(try await notes.compare(q) == nil)
            #expect(try notes.generations.map(\.turn) == [turn])
            #expect(try await notes.compare(q, isRaised: false) == nil)
        }
        #expect(try await q.queue.lossWarnings() == [])
    }

    @Test(arguments: QueueLoss.allCases.filter { $0 != .library })
    func `what is lost is noticed once, told by the doctor for a week, and counted`(
        loss: QueueLoss
    ) async throws {
        let q = try await QueueFixture()
        _ = try await q.queue.join(QueueLibrary(id: "11", name: "/srv/one"))
        for _ in 1...3 { _ = try await notes.compare(q) }
        switch loss {
        case .empty: try await q.remove()
        case .other: try await q.harm(["HSET library generation another turn 9"])
        case .older: try await q.harm(["HSET library turn 2"])
        case .library: Issue.record("not lost by Redis")
        }
        // A gateway may be the first to see it.
        let noticed = try #require(try await notes.compare(q, isRaised: false))
        #expect(noticed.loss == loss)
        #expect(try await notes.compare(q, isRaised: false) == noticed)
        #expect(try await notes.compare(q) == noticed)
        #expect(try await notes.compare(q) == noticed)
        #expect(try notes.generations.count == 2)
        let warnings = try await q.queue.diagnose().warnings
        let warning = try #require(
            warnings.first { $0.hasPrefix(loss.sentence(of: q.queue.name)) }, "\(warnings)")
        #expect(warning.contains("is told here until "))
        #expect(try await q.queue.status().counters["poorer"] == 1)

        // The next one is another one.
        try await q.passMillisecond()
        try await q.harm(["HSET library turn 0"])
        let next = try #require(try await notes.compare(q))
        #expect(next.loss == .older && next.at > noticed.at)
        #expect(try await q.queue.status().counters["poorer"] == 2)
        let anHourAgo = try await q.queue.now() - 3_700_000
        try await q.harm(["HSET library poorerAt \(anHourAgo)"])
        #expect(try await notes.compare(q) == nil)
        let longAgo = try await q.queue.now() - 8 * 86_400_000
        try await q.harm(["HSET library id 11 poorerAt \(longAgo)"])
        #expect(try await q.queue.lossWarnings() == [])
    }

    @Test
    func `every program tells a loss once, whichever notices it, and when it starts after it`()
        async throws
    {
        let q = try await QueueFixture()
        let lines = (0..<3).map { _ in RecordedLines() }
        let worker = GenerationWatch(q.queue, isRaised: true, lines[0].logger)
        let gateway = GenerationWatch(q.queue, isRaised: false, lines[1].logger)
        for watch in [worker, gateway, worker, gateway] { await notes.compare(watch) }
        #expect(lines.flatMap { $0.all } == [])
        for losses in 1...2 {
            try await q.passMillisecond()
            try await q.harm(["HSET library turn 0"])
            let order = losses == 1 ? [gateway, worker] : [worker, gateway]
            for watch in order + order { await notes.compare(watch) }
            #expect(lines[0].all.count == losses && lines[1].all.count == losses)
        }
        let late = GenerationWatch(q.queue, isRaised: false, lines[2].logger)
        for _ in 1...2 { await notes.compare(late) }
        #expect(lines[2].all == [QueueLoss.older.sentence(of: q.queue.name)])
    }

    @Test
    func `the doctor does not call a queue well that no worker has compared since Redis started`()
        async throws
    {
        let q = try await QueueFixture()
        _ = try await q.queue.join(QueueLibrary(id: "11", name: "/srv/one"))
        _ = try await notes.compare(q)
        #expect(try await q.queue.lossWarnings() == [])
        // As in a file that was put back.
        try await q.harm(["HSET library comparedAt 1"])
        let warnings = try await q.queue.diagnose().warnings
        #expect(warnings.contains { $0.hasPrefix("Redis started at ") }, "\(warnings)")
        _ = try await notes.compare(q, isRaised: false)
        #expect(try await q.queue.lossWarnings().count == 1, "a gateway writes nothing")
        _ = try await notes.compare(q)
        #expect(try await q.queue.lossWarnings() == [])

        // The doctor with the library at hand notices it as well as they do.
        try await q.harm(["HSET library turn 0"])
        let told = try await q.queue.loss { notes.note.withLock { $0 } }
        #expect(told == QueueLoss.older.sentence(of: q.queue.name))
        let lines = RecordedLines()
        await notes.compare(GenerationWatch(q.queue, isRaised: true, lines.logger))
        #expect(lines.all == [told])
    }

    @Test(arguments: [true, false])
    func `a library that remembers less than it did ten minutes ago is told once`(
        isGone: Bool
    ) async throws {
        let q = try await QueueFixture()
        for _ in 1...2 { #expect(try await notes.compare(q) == nil) }
        let earlier = isGone ? nil : notes.note.withLock { $0 }
        for _ in 1...3 { #expect(try await notes.compare(q) == nil) }
        let generation = try notes.generations.map(\.id)
        // What workers that write beside each other do within these minutes is no loss.
        notes.note.withLock { $0 = earlier }
        #expect(try await notes.compare(q) == nil)
        // Twice ten minutes of work later.
        for _ in 1...2 {
            try await q.harm(["HSET library seenAt 1"])
            #expect(try await notes.compare(q) == nil)
        }
        notes.note.withLock { $0 = earlier }
        let noticed = try #require(try await notes.compare(q, isRaised: false))
        #expect(noticed.loss == .library)
        for _ in 1...3 { #expect(try await notes.compare(q) == noticed) }
        #expect(try notes.generations.map(\.id) == generation, "the queue has lost nothing")
        let warnings = try await q.queue.diagnose().warnings
        #expect(warnings.contains { $0.contains("minilab doctor --library") }, "\(warnings)")
        #expect(try await q.queue.status().counters["poorer"] == 1)
    }

    @Test func `a library that an operator gives the queue need not remember it`() async throws {
        let q = try await QueueFixture()
        for _ in 1...3 {
            try await q.harm(["HSET library seenAt 1"])
            #expect(try await notes.compare(q) == nil)
        }
        notes.note.withLock { $0 = nil }
        _ = try await q.queue.join(QueueLibrary(id: "2", name: "/srv/copy"), takesPlace: true)
        for _ in 1...3 { #expect(try await notes.compare(q) == nil) }
    }

    @Test func `two servers that share the library while one takes the other's place tell it once`()
        async throws
    {
        let old = try await QueueFixture()
        let new = try old.another()
        _ = try await notes.compare(old)
        let noticed = try #require(try await notes.compare(new))
        #expect(noticed.loss == .empty)
        for _ in 1...2 {
            #expect(try await notes.compare(old) == nil)
            #expect(try await notes.compare(new) == noticed)
        }
    }

    @Test func `a library that an operator gives the queue has nothing to say about the last one`()
        async throws
    {
        let q = try await QueueFixture()
        let library = QueueLibrary(id: "11", name: "/srv/one")
        _ = try await q.queue.join(library)
        _ = try await notes.compare(q)
        try await q.remove()
        _ = try await q.queue.join(library, takesPlace: true)
        #expect(try await notes.compare(q, isRaised: false) == nil)
        #expect(try await notes.compare(q) == nil)
        #expect(try await notes.compare(q) == nil)
        // From then on it is watched as before.
        try await q.remove()
        #expect(try await notes.compare(q)?.loss == .empty)
    }

    @Test func `a note of a later release is named and left alone, and a damaged one is`()
        async throws
    {
        let q = try await QueueFixture()
        for (text, code) in [
            (#"{"format":2,"generations":"new"}"#, QueueErrorCode.laterFormat),
            (#"{"format":1}"#, .unexpectedReply), ("x", .unexpectedReply),
        ] {
            notes.note.withLock { $0 = Array(text.utf8) }
            let error = await #expect(throws: QueueError.self) { try await notes.compare(q) }
            #expect(error?.code == code)
            #expect(notes.note.withLock { $0 } == Array(text.utf8))
        }
    }

    @Test func `the library remembers so many generations and no more`() throws {
        var generations = QueueGenerations()
        for number in 0..<20 {
            generations.remember(.init(id: "\(number)", turn: Int.max))
        }
        generations.remember(.init(id: "15", turn: 1))
        #expect(generations.known.map(\.id) == ["12", "13", "14", "16", "17", "18", "19", "15"])
        let note = try generations.encoded()
        #expect(note.count < 4096)
        #expect(try QueueGenerations(note, of: .photos) == generations)
    }
}
