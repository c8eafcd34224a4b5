import Edits
import BlobStore
import FoundationEssentials
import Library
import MinilabTesting
import ServiceTesting
import Synchronization
import Testing

@testable import BucketLibrary

/// Writers that crash at any request, collectors and readers, all on one asset, with a clock that runs fast.
///
/// In memory for seconds, and by night on a server, too.
@Suite("A bucket under crashes", .timeLimit(.minutes(30))) struct ModelTests {
    private static let asset = "2024/IMG_0001.JPG"
    private static let retention = Retention(versions: 2, age: nil)

    /// The facts that machines share, and what has to hold in the end.
    private final class World: Sendable {
        /// The clock, and the store unless that is a server.
        let memory = MemoryBlobStore(pageMax: 7)
        let store: any BlobStore
        let shared: Mutex<Shared>
        /// Lives that each writer has.
        let lives: Int
        private let end: ContinuousClock.Instant?

        struct Shared {
            var random: SeededGenerator
            var fences = 100
            /// Versions whose publication was reported.
            var reported: Set<String> = []
            /// Versions that were sealed by a machine that died then.
            var sealed: [(VersionName, StagedVersion)] = []
            var published = 0
            var conflicts = 0
            var lost = 0
            var crashes = 0
            var reads = 0
            var removed = 0

            /// Writers that are not done yet; the others go on until they are.
            var writers = 0
        }

        init(seed: UInt64, lives: Int) {
            shared = Mutex(Shared(random: SeededGenerator(seed: seed)))
            (store, self.lives, end) = (memory, lives, nil)
        }

        /// A world in a server, until its time is over.
        init(seed: UInt64, on server: any BlobStore, for time: Duration) {
            shared = Mutex(Shared(random: SeededGenerator(seed: seed)))
            let memory = memory
            store = ClockedStore(server) { memory.now }
            (lives, end) = (.max, .now + time)
        }

        /// Whether a writer may live once more.
        var goesOn: Bool { end.map { .now < $0 } ?? true }

        var isOver: Bool { shared.withLock { $0.writers == 0 } }

        /// Waits as a machine does that is stopped: for up to three times the grace.
        func stall() async {
            let end = memory.now + random(3 * AssetHead.readerGrace)
            while memory.now < end { await Task.yield() }
        }

        func random(_ count: Int) -> Int {
            shared.withLock { Int.random(in: 0..<count, using: &$0.random) }
        }

        func fence() -> Int {
            shared.withLock {
                $0.fences += 1
                return $0.fences
            }
        }

        func machine() throws -> (BucketFixture, CrashingStore) {
            let (seed, calls) = shared.withLock {
                (
                    UInt64.random(in: 0 ... .max, using: &$0.random),
                    Int.random(in: 1..<60, using: &$0.random)
                )
            }
            let store = CrashingStore(self.store, seed: seed, callsLeft: calls)
            return (try BucketFixture(store: store, asset: ModelTests.asset, clock: memory), store)
        }

        func note(_ publication: Publication, _ name: VersionName, isDraft: Bool) {
            shared.withLock {
                switch publication {
                case .published, .alreadyPublished:
                    $0.published += 1
                    if !isDraft { $0.reported.insert(name.description) }
                case .conflict: $0.conflicts += 1
                case .lost: $0.lost += 1
                case .publishedBefore: Issue.record("no job comes twice")
                }
            }
        }
    }

    @Test func `no update is lost and no file is missing`() async throws {
        var seeds = SeededGenerator()
        seeds.printSeed("ModelTests")
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                let world = World(seed: seeds.next(), lives: 12)
                try world.memory.set(BucketFixture.original, at: "originals/\(Self.asset)")
                group.addTask { try await live(in: world, writers: 2) }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        .enabled("by night: MINILAB_NIGHT=1; needs weed") {
            Volume.isNight && SeaweedServer.program != nil
        })
    func `no update is lost and no file is missing on a server`() async throws {
        var seeds = SeededGenerator()
        seeds.printSeed("ModelTests")
        try await TestStore().withClient { client in
            let world = World(seed: seeds.next(), on: client, for: .seconds(600))
            try await client.put(
                BlobKey("originals/\(Self.asset)"), Array(BucketFixture.original.utf8))
            try await live(in: world, writers: 5)
        }
    }

    private func live(in world: World, writers: Int) async throws {
        world.shared.withLock { $0.writers = writers }
        try await withThrowingTaskGroup { group in
            for _ in 0..<writers { group.addTask { try await write(world) } }
            for _ in 0..<2 { group.addTask { try await collect(world) } }
            for _ in 0..<max(1, writers / 2) { group.addTask { try await read(world) } }
            try await group.waitForAll()
        }
        try await checkEnd(world)
    }

    private func write(_ world: World) async throws {
        defer { world.shared.withLock { $0.writers -= 1 } }
        var lives = 0
        while lives < world.lives, world.goesOn {
            lives += 1
            let (f, store) = try world.machine()
            while !store.isDead {
                do {
                    try await step(f, world)
                } catch {
                    guard store.isDead else {
                        // Calls that were lost more often than they are repeated.
                        #expect(
                            [.ioFailure, .storeUnavailable].contains((error as? Failure)?.code),
                            "\(error)")
                        continue
                    }
                }
            }
            world.shared.withLock { $0.crashes += 1 }
        }
    }

    private func step(_ f: BucketFixture, _ world: World) async throws {
        let state = try await f.library.state(of: f.asset)
        let parent = state.current.flatMap { VersionName($0.version) }
        let name = version((parent?.revision ?? 0) + 1, world.fence())
        var isDraft = false
        let staged: StagedVersion
        switch world.random(10) {
        case 0:
            _ = try await f.library.discardDraft(
                of: f.asset, state.draft.flatMap { VersionName($0.version) })
            return
        case 1:
            guard let current = state.current else { return }
            _ = try await f.library.confirm(current, of: f.asset, at: world.fence())
            return
        case 2, 3:
            guard let other = world.shared.withLock({ $0.sealed.popLast() }) else { return }
            let publication = try await f.library.publish(other.0, of: f.asset, from: other.1)
            let found = try await f.library.provenance(of: other.0, f.asset)
            world.note(publication, other.0, isDraft: found == nil)
            return
        case 4:
            isDraft = true
            staged = try await f.seal(name, on: parent, text: "\(name)", isDraft: true)
        case 5:
            guard let draft = state.draft, draft.parent == parent?.description,
                let shown = VersionName(draft.version)
            else { return }
            do {
                staged = try await f.seal(name, on: parent, publishing: shown)
            } catch let failure as Failure where failure.code == .missingVersion {
                return  // discarded meanwhile
            }
        case 6, 7, 8:
            let history = try await f.library.history(of: f.asset)
            guard let shown = history.last.flatMap({ VersionName($0.version) }) else { return }
            do {
                staged = try await f.seal(name, on: parent, showing: shown)
            } catch let failure as Failure where failure.code == .missingVersion {
                return  // collected meanwhile
            }
        default: staged = try await f.seal(name, on: parent, text: "\(name)")
        }
        if !isDraft { world.shared.withLock { $0.sealed.append((name, staged)) } }
        if world.random(3) == 0 { await world.stall() }
        world.note(
            try await f.library.publish(name, of: f.asset, from: staged), name, isDraft: isDraft)
    }

    private func collect(_ world: World) async throws {
        while !world.isOver {
            let (f, store) = try world.machine()
            while !store.isDead, !world.isOver {
                world.memory.now += world.random(8 * 3600)
                do {
                    let now = Date(timeIntervalSince1970: Double(world.memory.now))
                    let collected = try await f.library.collect(
                        f.asset, keeping: Self.retention, now: now, isDryRun: false)
                    world.shared.withLock { $0.removed += collected.versions.count }
                } catch {
                    #expect([.ioFailure, .storeUnavailable].contains(error.code), "\(error)")
                }
                for _ in 0..<20 { await Task.yield() }
            }
        }
    }

    private func read(_ world: World) async throws {
        while !world.isOver {
            let f = try BucketFixture(
                store: world.store, asset: Self.asset, clock: world.memory)
            let start = world.memory.now
            do {
                let state = try await f.library.state(of: f.asset)
                for version in [state.current, state.draft].compactMap(\.self) {
                    try await readFiles(of: version, f)
                }
                world.shared.withLock { $0.reads += 1 }
            } catch {
                // Only a reader that takes longer than the grace may miss a file.
                #expect(world.memory.now - start >= AssetHead.readerGrace, "\(error)")
            }
            for _ in 0..<50 { await Task.yield() }
        }
    }

    private func readFiles(of version: Provenance, _ f: BucketFixture) async throws {
        for file in version.content?.fileNames ?? [] {
            _ = try await f.library.open(StoredFile(file, of: version, f.asset))
        }
    }

    private func checkEnd(_ world: World) async throws {
        let f = try BucketFixture(store: world.store, asset: Self.asset, clock: world.memory)
        let history = try await f.library.history(of: f.asset)
        let state = try await f.library.state(of: f.asset)
        for version in history + [state.draft].compactMap(\.self) {
            try await readFiles(of: version, f)
        }
        let head = try await f.head()
        let names = history.map(\.version)
        for (index, version) in history.enumerated().dropLast() {
            #expect(version.parent == names[index + 1])
        }
        let revisions = world.shared.withLock { $0.reported }.compactMap(VersionName.init)
        // Each revision was won by one version, and each that is not collected is in the history.
        #expect(Set(revisions.map(\.revision)).count == revisions.count)
        for version in revisions where version.revision >= head.floor {
            #expect(names.contains(version.description), "\(version) is lost")
        }
        // After two more collections nothing is left but what is kept.
        for _ in 0..<3 {
            world.memory.now += 3 * AssetHead.readerGrace
            let now = Date(timeIntervalSince1970: Double(world.memory.now))
            _ = try await f.library.collect(
                f.asset, keeping: Self.retention, now: now, isDryRun: false)
        }
        let end = try await f.head()
        let kept = Set(end.history.map(\.version)).union(end.linked)
            .union([end.draft?.version].compactMap(\.self))
        let stored = try await f.library.stored(of: f.asset)
        #expect(Set(stored.keys).isSubset(of: kept))
        for version in try await f.library.history(of: f.asset) {
            try await readFiles(of: version, f)
        }
        let report = world.shared.withLock {
            "\($0.published) published, \($0.conflicts) conflicts, \($0.lost) lost, \($0.crashes) crashes, "
                + "\($0.reads) reads, \($0.removed) collected"
        }
        print("ModelTests: \(report)")
        #expect(world.shared.withLock { $0.published > 5 && $0.crashes > 20 && $0.reads > 5 })
    }
}
