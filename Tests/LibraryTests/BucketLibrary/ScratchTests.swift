import Edits
import BlobStore
import Files
import FoundationEssentials
import Library
import MinilabTesting
import SystemPackage
import Testing

@testable import BucketLibrary

@Suite("The ledger of a scratch folder") struct ScratchLedgerTests {
    @Test func `the least recently used files go, and none that is open`() {
        var ledger = ScratchLedger(bytesMax: 10)
        for name in ["a", "b", "c"] {
            #expect(ledger.reserve(3) == [])
            #expect(ledger.settle(name, bytes: 3, reserved: 3) == true)
        }
        ledger.unpin("a")
        ledger.unpin("b")
        #expect(ledger.pin("a") == true)
        ledger.unpin("a")
        #expect(ledger.reserve(4) == ["b"])
        #expect(ledger.reserve(4) == nil)
        #expect(ledger.reserve(3) == ["a"])
        #expect(ledger.bytes == 10)
        ledger.release(7)
        #expect(ledger.bytes == 3)
        #expect(ledger.pin("a") == false)
        #expect(ledger.pin("c") == true)
    }

    @Test func `a file that is there twice counts once`() {
        var ledger = ScratchLedger(bytesMax: 10)
        for isNew in [true, false] {
            #expect(ledger.reserve(5) == [])
            #expect(ledger.settle("a", bytes: 5, reserved: 5) == isNew)
        }
        #expect(ledger.bytes == 5)
        ledger.unpin("a")
        #expect(ledger.reserve(10) == nil)
        ledger.unpin("a")
        #expect(ledger.reserve(10) == ["a"])
    }

    @Test func `all files go that nobody has open, for a disk that is full before the cache`() {
        var ledger = ScratchLedger(bytesMax: 10)
        for name in ["a", "b"] {
            #expect(ledger.reserve(2) == [])
            #expect(ledger.settle(name, bytes: 2, reserved: 2) == true)
        }
        ledger.unpin("a")
        #expect(ledger.evictIdle() == ["a"])
        #expect(ledger.evictIdle() == [])
        #expect(ledger.bytes == 2)
    }

    @Test func `a download that turns out shorter gives the rest back`() {
        var ledger = ScratchLedger(bytesMax: 10)
        #expect(ledger.reserve(10) == [])
        #expect(ledger.settle("a", bytes: 2, reserved: 10) == true)
        #expect(ledger.bytes == 2)
    }
}

@Suite("Downloads") struct ScratchTests {
    /// A store, and a cache of so many bytes.
    private struct World {
        let store = MemoryBlobStore()
        let folder: TemporaryFolder
        let downloads: ScratchDownloads
        var cache: ScratchCache { downloads.cache }

        init(bytesMax: Int, waitMax: Duration = .seconds(60)) throws {
            folder = try TemporaryFolder(inMemory: true)
            downloads = ScratchDownloads(
                try ScratchCache(
                    scratch: FilePath(folder.path), bytesMax: bytesMax, waitMax: waitMax))
        }

        func order(_ key: String, sha256: String? = nil, bytes: Int? = nil) throws
            -> ScratchDownloads.Order
        {
            ScratchDownloads.Order(
                store: store, key: try BlobKey(key), name: key, sha256: sha256, bytes: bytes,
                missing: .missingAsset)
        }

        func bring(_ key: String, sha256: String? = nil, bytes: Int? = nil) async throws -> OpenFile
        {
            let arrival = try await downloads.bring(key, order(key, sha256: sha256, bytes: bytes))
            return try cache.open(arrival.lease, name: key)
        }

        func reopen(_ text: String) async throws -> OpenFile {
            let lease = try #require(cache.lease(BlobDigest(of: text.utf8).hex))
            return try cache.open(lease, name: text)
        }

        func names() throws -> [String] {
            try FileSystem().list(cache.folder)
        }
    }

    private func text(_ file: OpenFile) throws -> String {
        String(decoding: file.bytes(from: 0, count: try file.length()), as: UTF8.self)
    }

    @Test(arguments: [0, 1, 999, 1_000, 1_001, 5_000])
    func `an object of any length comes whole, under its digest`(_ count: Int) async throws {
        let w = try World(bytesMax: 10_000)
        let content = String(repeating: "x", count: count)
        try w.store.set(content, at: "a")
        let file = try await w.bring("a")
        #expect(try text(file) == content)
        #expect(try w.names() == [BlobDigest(of: content.utf8).hex])
        #expect(w.cache.bytes == count)
        #expect(w.store.calls.count == (count == 0 ? 2 : 1))
    }

    @Test func `a scratch folder that somebody removed is made again`() async throws {
        let w = try World(bytesMax: 10)
        for name in ["a", "b"] { try w.store.set(name, at: name) }
        _ = try await w.bring("a", bytes: 1)
        try FileSystem().remove(w.cache.folder.removingLastComponent())
        #expect(try text(try await w.bring("b", bytes: 1)) == "b")
        await #expect(throws: Failure.self) { _ = try await w.reopen("a") }
        #expect(try text(try await w.bring("a", bytes: 1)) == "a")
        #expect(w.cache.bytes == 2)
    }

    @Test(arguments: [nil, 20 << 20])
    func `an object that is longer than the first request comes in ranges of one content`(
        _ recorded: Int?
    ) async throws {
        let w = try World(bytesMax: 20 << 20)
        let content = Self.bytes(20 << 20)
        try w.store.set(bytes: content, at: "a")
        let file = try await w.bring("a", bytes: recorded)
        #expect(try file.length() == content.count)
        #expect(w.store.calls.count == 3)
        #expect(try w.names() == [BlobDigest(of: content).hex])
        #expect(w.cache.bytes == content.count)
    }

    @Test func `an object that is replaced while its ranges travel is read anew`() async throws {
        let w = try World(bytesMax: 20 << 20)
        try w.store.set(bytes: Self.bytes(10 << 20), at: "a")
        let (new, turns) = (Self.bytes(12 << 20), Locked(0))
        let store = w.store
        store.pause { _ in
            // Before the first range of the rest.
            guard
                turns.change({
                    $0 += 1; return $0
                }) == 2
            else { return }
            do { try store.set(bytes: new, at: "a") } catch { Issue.record(error) }
        }
        let file = try await w.bring("a")
        #expect(try file.length() == new.count)
        #expect(try w.names() == [BlobDigest(of: new).hex])
    }

    @Test func `an object that is replaced again and again is given up`() async throws {
        let w = try World(bytesMax: 20 << 20)
        try w.store.set(bytes: Self.bytes(10 << 20), at: "a")
        let (store, turns) = (w.store, Locked(0))
        store.pause { _ in
            let turn = turns.change {
                $0 += 1; return $0
            }
            do { try store.set(bytes: Self.bytes((10 << 20) + turn), at: "a") } catch {
                Issue.record(error)
            }
        }
        let failure = await #expect(throws: Failure.self) { _ = try await w.bring("a") }
        #expect(failure?.code == .ioFailure)
        #expect(try w.names() == [] && w.cache.bytes == 0)
    }

    @Test func `a large object is inspected when its beginning is here, and may be refused`()
        async throws
    {
        let w = try World(bytesMax: 64 << 20)
        try w.store.set(bytes: Self.bytes(33 << 20), at: "a")
        var order = try w.order("a")
        order.check = { beginning, bytes in
            // A length that cannot be read is another one.
            let isCut = (try? beginning.length()) == Download.firstBytesMax
            return Failure(
                isCut && bytes == 33 << 20 ? .exceedsLimit : .internalError, "too large.")
        }
        let failure = await #expect(throws: Failure.self) {
            _ = try await w.downloads.bring("a", order)
        }
        #expect(failure?.code == .exceedsLimit)
        #expect(w.store.calls.count == 1)
        #expect(try w.names() == [] && w.cache.bytes == 0)
        order.check = { _, _ in nil }
        #expect(try await w.downloads.bring("a", order).lease.sha256.count == 64)
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 7) }
    }

    @Test func `an object that is longer than the cache is refused`() async throws {
        let w = try World(bytesMax: 4_000)
        try w.store.set(String(repeating: "z", count: 4_001), at: "a")
        for bytes in [nil, 4_001] {
            let failure = await #expect(throws: Failure.self) {
                _ = try await w.bring("a", bytes: bytes)
            }
            #expect(failure?.code == .exceedsLimit)
        }
        #expect(w.cache.bytes == 0)
        #expect(try w.names() == [])
    }

    @Test func `many that ask at once get one download and descriptors of their own`() async throws
    {
        let w = try World(bytesMax: 10_000)
        try w.store.set("photo", at: "a")
        // All have asked before the first request is answered.
        let asked = Locked(0)
        let (open, release) = AsyncStream<Void>.makeStream()
        w.store.pause { _ in for await _ in open { break } }
        let files = try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    if asked.change({
                        $0 += 1; return $0
                    }) == 8 {
                        release.finish()
                    }
                    return try await w.bring("a")
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(files.map(\.descriptor)).count == 8)
        #expect(w.store.calls.count <= 8)
        #expect(w.cache.bytes == 5)
    }

    @Test func `a download waits until a file is closed, and files that are open stay`()
        async throws
    {
        let w = try World(bytesMax: 10_000)
        try w.store.set(String(repeating: "a", count: 6_000), at: "a")
        try w.store.set(String(repeating: "b", count: 6_000), at: "b")
        var first: OpenFile? = try await w.bring("a", bytes: 6_000)
        async let second = w.bring("b", bytes: 6_000)
        // The lease of the first is what it waits for, whenever it asks.
        #expect(try text(try #require(first)).hasPrefix("aaa"))
        first = nil
        #expect(try text(try await second).hasPrefix("bbb"))
        #expect(try w.names() == [BlobDigest(of: String(repeating: "b", count: 6_000).utf8).hex])
    }

    @Test func `a wait for room ends`() async throws {
        let w = try World(bytesMax: 10_000, waitMax: .milliseconds(1))
        try w.store.set(String(repeating: "a", count: 6_000), at: "a")
        try w.store.set(String(repeating: "b", count: 6_000), at: "b")
        let first = try await w.bring("a", bytes: 6_000)
        let failure = await #expect(throws: Failure.self) {
            _ = try await w.bring("b", bytes: 6_000)
        }
        #expect(failure?.code == .noSpace)
        withExtendedLifetime(first) {}
    }

    @Test func `bytes that are not those recorded are kept by nobody`() async throws {
        let w = try World(bytesMax: 10_000)
        try w.store.set("photo", at: "a")
        let other = BlobDigest(of: "other".utf8).hex
        let failure = await #expect(throws: Failure.self) {
            _ = try await w.bring("a", sha256: other, bytes: 5)
        }
        #expect(failure?.code == .damagedVersion)
        #expect(try w.names() == [] && w.cache.bytes == 0)
    }

    @Test func `an object that is not there is reported by the order's code`() async throws {
        let w = try World(bytesMax: 10_000)
        let failure = await #expect(throws: Failure.self) { _ = try await w.bring("nothing") }
        #expect(failure?.code == .missingAsset)
        #expect(w.cache.bytes == 0)
    }

    @Test func `a disk that is full is reported, after what nobody has open went for it`()
        async throws
    {
        let w = try World(bytesMax: 10_000)
        try w.store.set("bytes", at: "a")
        _ = try await w.bring("a")
        try w.cache.checkDisk(freeBytesMin: 0)
        #expect(try w.names() != [])
        let failure = #expect(throws: Failure.self) { try w.cache.checkDisk(freeBytesMin: .max) }
        #expect(failure?.code == .noSpace)
        #expect(try w.names() == [])
    }

    @Test func `two processes of a machine have folders of their own, emptied at the start`() throws
    {
        let folder = try TemporaryFolder(inMemory: true)
        let path = FilePath(folder.path)
        let first = try ScratchCache(scratch: path, bytesMax: 10)
        try FileSystem().write(Array("left".utf8), to: first.folder.appending("left"))
        let second = try ScratchCache(scratch: path, bytesMax: 10)
        #expect(first.folder != second.folder)
        #expect(try FileSystem().list(first.folder) == ["left"])
        withExtendedLifetime(first) {}
    }

    @Test func `an original that was replaced is downloaded again`() async throws {
        let f = try BucketFixture()
        #expect(try await f.text(f.library.open(.original(f.asset))) == "original")
        try f.memory.set("another", at: "originals/\(f.asset)")
        #expect(try await f.text(f.library.open(.original(f.asset))) == "another")
        try f.memory.remove("originals/\(f.asset)")
        let failure = await #expect(throws: Failure.self) {
            _ = try await f.library.open(.original(f.asset))
        }
        #expect(failure?.code == .missingAsset)
    }

    @Test func `a file of a version that has rotted is refused`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil)
        try f.memory.set("pixelz", at: f.fileKey(version(1)))
        let failure = await #expect(throws: Failure.self) { _ = try await f.currentText() }
        #expect(failure?.code == .damagedVersion)
    }
}
