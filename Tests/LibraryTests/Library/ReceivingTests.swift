import Edits
import Files
import FoundationEssentials
import Glibc
import MinilabTesting
import Synchronization
import SystemPackage
import Testing

@testable import Library

@Suite("Originals that arrive in a folder") struct ReceivingTests {
    private static let text = "a photo"

    private func arrival(
        _ asset: String, bytes: Int = text.utf8.count
    ) throws(Failure) -> OriginalArrival {
        OriginalArrival(try AssetPath(asset), bytes: bytes)
    }

    private func fill(_ file: OpenFile) throws(Failure) -> StoredDigest {
        try file.write(Array(Self.text.utf8), at: 0)
        // It is as long as was announced until then.
        try file.cut(to: Self.text.utf8.count)
        let found = try FileDigest.sha256(of: file)
        return StoredDigest(sha256: found.hex, bytes: found.bytes)
    }

    private func receive(_ f: LibraryFixture, _ asset: String) async throws -> ReceivedOriginal {
        try await f.library.receive(try arrival(asset)) { file throws(Failure) in try fill(file) }
    }

    private func arrivals(_ f: LibraryFixture) -> [String] {
        let path = f.library.originals.appending(LibraryFolder.arrivalsName)
        return (try? FileManager.default.contentsOfDirectory(atPath: path.string)) ?? []
    }

    @Test func `are originals when they are whole, in folders that are made for them`() async throws
    {
        let f = try LibraryFixture()
        #expect(try await receive(f, "2030/06/new.JPG") == .added)
        let path = f.library.originals.appending("2030/06/new.JPG")
        #expect(try String(contentsOfFile: path.string, encoding: .utf8) == Self.text)
        #expect(arrivals(f) == [])
    }

    @Test func `replace nothing`() async throws {
        let f = try LibraryFixture()
        let isAsked = Mutex(false)
        let answer = try await f.library.receive(arrival(f.asset.string)) { file throws(Failure) in
            isAsked.withLock { $0 = true }
            return try fill(file)
        }
        #expect(answer == .isThere)
        #expect(!isAsked.withLock { $0 })
        let path = try f.library.original(of: f.asset)
        #expect(try String(contentsOfFile: path.string, encoding: .utf8) == "original")
    }

    @Test func `that come at the same time leave one, whole`() async throws {
        let f = try LibraryFixture()
        let answers = try await withThrowingTaskGroup(of: ReceivedOriginal.self) { group in
            for _ in 0..<8 { group.addTask { try await receive(f, "a/b/new.JPG") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { $0 == .added } == 1)
        #expect(arrivals(f) == [])
    }

    @Test func `that break off leave nothing`() async throws {
        let f = try LibraryFixture()
        await #expect(throws: Failure.self) {
            try await f.library.receive(arrival("new.JPG", bytes: 8)) { file throws(Failure) in
                try fill(file)
            }
        }
        await #expect(throws: Failure.self) {
            try await f.library.receive(arrival("new.JPG")) { _ throws(Failure) in
                throw Failure(.ioFailure, "the client went.")
            }
        }
        #expect(arrivals(f) == [])
        #expect(
            !FileManager.default.fileExists(atPath: f.library.originals.appending("new.JPG").string)
        )
    }

    @Test func `that are refused leave no folders`() async throws {
        let f = try LibraryFixture()
        func folders() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: f.library.originals.string)
                .filter { $0 != LibraryFolder.arrivalsName }
        }
        let before = try folders()
        await #expect(throws: Failure.self) {
            try await f.library.receive(arrival("x/y/z/new.JPG", bytes: 8)) {
                file throws(Failure) in
                try fill(file)
            }
        }
        #expect(try folders() == before)
    }

    @Test func `lie in a few folders and no more`() async throws {
        let f = try LibraryFixture()
        func name(_ folders: Int) -> String {
            String(repeating: "d/", count: folders) + "new.JPG"
        }
        let failure = await #expect(throws: Failure.self) {
            try await receive(f, name(OriginalArrival.foldersMax + 1))
        }
        #expect(failure?.code == .invalidValue)
        #expect(try await receive(f, name(OriginalArrival.foldersMax)) == .added)
    }

    @Test func `take the disk as they arrive, not as they were announced`() async throws {
        let f = try LibraryFixture()
        let most = 4 << 30
        await #expect(throws: Failure.self) {
            try await f.library.receive(arrival("new.JPG", bytes: most)) { file throws(Failure) in
                var space = ArrivalSpace(of: try arrival("new.JPG", bytes: most))
                #expect(try taken(by: file) == 0)
                try space.reserve(upTo: 300, in: file)
                #expect(try taken(by: file) <= ArrivalSpace.aheadBytes)
                return try fill(file)
            }
        }
        // No more than was announced, or the file would be longer than the original.
        let answer = try await f.library.receive(arrival("new.JPG")) { file throws(Failure) in
            var space = ArrivalSpace(of: try arrival("new.JPG"))
            try space.reserve(upTo: 3, in: file)
            try space.reserve(upTo: 7, in: file)
            #expect(try file.length() == 7)
            try file.write(Array(Self.text.utf8), at: 0)
            let found = try FileDigest.sha256(of: file)
            return StoredDigest(sha256: found.hex, bytes: found.bytes)
        }
        #expect(answer == .added)
    }

    /// The bytes of the disk that a file takes.
    private func taken(by file: OpenFile) throws(Failure) -> Int {
        var info = stat()
        guard fstat(file.descriptor, &info) == 0 else {
            throw Failure(.ioFailure, "\(file.name) has no status")
        }
        return Int(info.st_blocks) * 512
    }

    @Test func `stop when the disk has no more than it has to keep`() async throws {
        let f = try LibraryFixture()
        let failure = await #expect(throws: Failure.self) {
            try await f.library.receive(arrival("new.JPG")) { file throws(Failure) in
                // Others have filled the disk since this one was announced.
                var space = ArrivalSpace(
                    of: OriginalArrival(
                        try arrival("new.JPG").asset, bytes: 7, bytesLeftFree: 1 << 60))
                try space.reserve(upTo: 7, in: file)
                return try fill(file)
            }
        }
        #expect(failure?.code == .noSpace)
        #expect(arrivals(f) == [])
    }

    @Test func `leave the disk what it has to keep`() async throws {
        let f = try LibraryFixture()
        let failure = await #expect(throws: Failure.self) {
            try await f.library.receive(
                OriginalArrival(try AssetPath("new.JPG"), bytes: 7, bytesLeftFree: .max)
            ) { file throws(Failure) in try fill(file) }
        }
        #expect(failure?.code == .noSpace)
    }

    @Test(arguments: [
        ".minilab-copy-uploads/a.JPG", "a/.minilab-copy-0/b.JPG", ".minilab-copy-x",
    ])
    func `have no names of the library's own files`(_ asset: String) async throws {
        let f = try LibraryFixture()
        let failure = await #expect(throws: Failure.self) { try await receive(f, asset) }
        #expect(failure?.code == .invalidValue)
    }

    @Test func `never go through a link, out of the originals or within them`() async throws {
        let f = try LibraryFixture()
        let outside = f.folder.file("outside")
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
        symlink(outside, f.library.originals.appending("out").string)
        symlink("2024", f.library.originals.appending("in").string)
        for asset in ["out/new.JPG", "out/a/new.JPG", "in/new.JPG"] {
            let failure = await #expect(throws: Failure.self) { try await receive(f, asset) }
            #expect(failure?.code == .assetOutsideLibrary)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == [])
        symlink(outside + "/photo", f.library.originals.appending("link.JPG").string)
        let failure = await #expect(throws: Failure.self) { try await receive(f, "link.JPG") }
        #expect(failure?.code == .invalidValue)
    }

    @Test func `cannot lie where a folder is, or below a file`() async throws {
        let f = try LibraryFixture()
        for asset in ["2024", "2024/IMG_0001.JPG/new.JPG"] {
            let failure = await #expect(throws: Failure.self) { try await receive(f, asset) }
            #expect(failure?.code == .invalidValue)
        }
    }

    @Test func `are there whole or not at all after a crash anywhere, and what is left is swept`()
        async throws
    {
        var calls = 0
        while true {
            let f = try LibraryFixture()
            let faults = FaultInjection(afterCalls: calls)
            let result: ReceivedOriginal?
            do {
                let library = try LibraryFolder(root: f.library.root, faults: faults)
                result = try await library.receive(arrival("a/new.JPG")) { file throws(Failure) in
                    try fill(file)
                }
            } catch {
                result = nil
            }
            let path = f.library.originals.appending("a/new.JPG").string
            if FileManager.default.fileExists(atPath: path) {
                #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.text)
            }
            try await f.library.sweepArrivals()
            #expect(arrivals(f) == [])
            // The client sends it again.
            let again = try await receive(f, "a/new.JPG")
            #expect(again == .added || again == .isThere)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.text)
            guard faults.hasStruck else {
                #expect(result == .added)
                break
            }
            calls += 1
        }
        #expect(calls > 3)
    }

    @Test func `that are on their way are not swept`() async throws {
        let f = try LibraryFixture()
        let answer = try await f.library.receive(arrival("new.JPG")) { file throws(Failure) in
            try await f.library.sweepArrivals()
            return try fill(file)
        }
        #expect(answer == .added)
    }

    @Test func `are no assets before they have arrived`() async throws {
        let f = try LibraryFixture()
        let seen = Mutex<[String]>([])
        _ = try await f.library.receive(arrival("new.JPG")) { file throws(Failure) in
            try await f.library.originals { page throws(Failure) in
                seen.withLock { $0 += page.assets.map(\.string) }
            }
            return try fill(file)
        }
        #expect(seen.withLock { $0 } == ["2024/IMG_0001.JPG"])
    }
}
