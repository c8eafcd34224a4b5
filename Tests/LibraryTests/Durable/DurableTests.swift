import Edits
import Files
import FoundationEssentials
import Glibc
import MinilabTesting
import SystemPackage
import Testing

@testable import BucketLibrary
@testable import Library

/// Everything that must outlive the machine that wrote it, asked of both kinds of library: one machine writes, and another one that has
/// the library and nothing else reads.
@Suite("What a library has when a machine is gone") struct DurableTests {
    /// What lasts; a new thing of ``LibraryStore`` that lasts is a case here.
    enum Thing: CaseIterable {
        case identity, note, deadLetters, original, version, draft, renditions, history,
            confirmation, sealedVersion, moviePart
    }

    private static let note = Array("what a queue has".utf8)
    private static let time = Date(timeIntervalSince1970: 1_795_948_272.345)

    @Test(arguments: SizesFixture.Kind.allCases, Thing.allCases)
    func `is found by another one`(kind: SizesFixture.Kind, thing: Thing) async throws {
        let f = try SizesFixture(kind)
        try await write(thing, f)
        try await f.withAnotherMachine { try await check(thing, $0, f) }
    }

    private func write(_ thing: Thing, _ f: SizesFixture) async throws {
        let library = f.library
        switch thing {
        case .identity: try await (library as? BucketLibrary)?.checkFormat(beginning: true)
        case .note: try await library.keep(Self.note, of: "photos")
        case .deadLetters: try await append(["one", "two"], to: library)
        case .original:
            let arrival = OriginalArrival(try AssetPath("new.JPG"), bytes: 5)
            let answer = try await library.receive(arrival) { file throws(Failure) in
                try file.write(Array("photo".utf8), at: 0)
                try file.cut(to: 5)
                let found = try FileDigest.sha256(of: file)
                return StoredDigest(sha256: found.hex, bytes: found.bytes)
            }
            #expect(answer == .added)
        case .version, .renditions: try await f.publish(version(1), on: nil, ["web": "small"])
        case .draft: try await f.publish(version(1), on: nil, isDraft: true)
        case .history:
            try await f.publish(version(1), on: nil)
            try await f.publish(version(2), on: version(1))
        case .confirmation:
            try await f.publish(version(1), on: nil)
            let current = try #require(try await library.state(of: f.asset).current)
            #expect(try await library.confirm(current, of: f.asset, at: 77))
        case .sealedVersion: try await f.seal(version(1), on: nil, ["web": "small"])
        case .moviePart:
            let part = try OpenFile.inMemory(name: "part")
            try part.write(Self.note, at: 0)
            try await library.keepMoviePart(part, as: MoviePartName(.test(), 3))
        }
    }

    private func check(
        _ thing: Thing, _ library: any LibraryStore, _ f: SizesFixture
    ) async throws {
        switch thing {
        case .identity:
            try await (library as? BucketLibrary)?.checkFormat(beginning: false)
            #expect(library.identity != nil && library.identity?.id == f.library.identity?.id)
        case .note: #expect(try await library.note(of: "photos") == Self.note)
        case .deadLetters:
            let place = try await append(["three"], to: library)
            // Objects of one millisecond have no order.
            #expect(try await lines(at: place, library).sorted() == ["one", "three", "two"])
        case .original:
            let file = try await library.open(.original(AssetPath("new.JPG")), nil)
            #expect(file.bytes(from: 0, count: 9) == Array("photo".utf8))
        case .version:
            #expect(try await library.state(of: f.asset).current?.version == "\(version(1))")
        case .draft: #expect(try await library.state(of: f.asset).draft?.version == "\(version(1))")
        case .renditions:
            let list = try await library.sizes(of: version(1), f.asset)
            let file = try #require(list.renditions["web"]?.file)
            let found = try await library.open(
                .rendition(f.asset, version: version(1), file: file), nil)
            #expect(found.bytes(from: 0, count: 9) == Array("small".utf8))
        case .history:
            #expect(
                try await library.history(of: f.asset).map(\.version)
                    == ["\(version(2))", "\(version(1))"])
        case .confirmation: #expect(try await library.state(of: f.asset).arrival == 77)
        case .sealedVersion:
            #expect(
                try await library.publish(version(1), of: f.asset, from: f.staged(version(1)))
                    == .published)
        case .moviePart:
            let part = try OpenFile.inMemory(name: "part")
            #expect(try await library.readMoviePart(MoviePartName(.test(), 3), into: part))
            #expect(part.bytes(from: 0, count: 99) == Self.note)
        }
    }

    // MARK: Dead letters

    @discardableResult
    private func append(
        _ lines: [String], of queue: String = "photos", at time: Date = time,
        to library: any LibraryStore
    ) async throws -> String {
        try await library.append(
            deadLetters: Array(lines.map { $0 + "\n" }.joined().utf8), of: queue, at: time)
    }

    private func lines(
        at place: String, of queue: String = "photos", until time: Date = time,
        others: [String: Int] = [:], _ library: any LibraryStore,
        _ body: () async throws -> Void = {}
    ) async throws -> [String] {
        var lines: [String] = []
        let passed = try await library.forEachDeadLetterFile(at: place, of: queue, until: time) {
            letters in
            try await body()
            let text = String(
                decoding: letters.file.bytes(from: 0, count: letters.bytes), as: UTF8.self)
            lines += text.split(separator: "\n").map(String.init)
        }
        #expect(passed == others)
        return lines
    }

    @Test(arguments: SizesFixture.Kind.allCases)
    func `dead letters have a place for each queue and month`(kind: SizesFixture.Kind) async throws
    {
        let f = try SizesFixture(kind)
        let november = try await append(["a"], to: f.library)
        let december = try await append(
            ["b"], at: Self.time.addingTimeInterval(10 * 86_400), to: f.library)
        let other = try await append(["c"], of: "videos", to: f.library)
        #expect(Set([november, december, other]).count == 3)
        #expect(november.contains("photos") && november.contains("2026-11"), "\(november)")
        #expect(december.contains("2026-12"), "\(december)")
        #expect(try await lines(at: november, f.library) == ["a"])
        #expect(try await lines(at: other, of: "videos", f.library) == ["c"])
        #expect(try await lines(at: other, others: ["videos": 1], f.library).isEmpty)
        // The whole folder, or prefix.
        let all = try #require(november.firstRange(of: "dead"))
        let place = String(november[..<all.upperBound])
        let later = Self.time.addingTimeInterval(20 * 86_400)
        #expect(
            try await lines(at: place, until: later, others: ["videos": 1], f.library).sorted()
                == ["a", "b"])
        #expect(
            try await lines(at: place, of: "videos", until: later, others: ["photos": 2], f.library)
                == ["c"])
        // A queue whose name begins like the other's.
        try await append(["d"], of: "photos-2", to: f.library)
        #expect(
            try await lines(
                at: place, until: later, others: ["photos-2": 1, "videos": 1], f.library
            ).sorted() == ["a", "b"])
        // They are no assets, and no collector removes them.
        #expect(try await f.library.assets(after: nil).assets.isEmpty)
        #expect(try await f.library.storedAssets(after: nil).assets.isEmpty)
    }

    @Test(arguments: SizesFixture.Kind.allCases)
    func `what is added while dead letters are read is not read`(kind: SizesFixture.Kind)
        async throws
    {
        let f = try SizesFixture(kind)
        let place = try await append(["a"], to: f.library)
        var (added, last) = (0, Self.time)
        let found = try await lines(at: place, f.library) {
            // Bounded, so that a reader without a bound ends, too.
            guard added < 20 else { return }
            added += 1
            last += 0.001
            try await append(["again \(added)"], at: last, to: f.library)
        }
        #expect(found == ["a"])
        #expect(added == 1)
        #expect(try await lines(at: place, until: last, f.library) == ["a", "again 1"])
    }

    @Test func `a pipe among dead letters is told, and nothing waits for its writer`()
        async throws
    {
        let f = try SizesFixture(.folder)
        let place = try await append(["a"], to: f.library)
        let slash = try #require(place.lastIndex(of: "/"))
        let folder = String(place[..<slash])
        #expect(try DeadLetterFile.files(at: folder, of: "photos").own.count == 1)
        #expect(mkfifo(folder + "/pipe.ndjson", 0o600) == 0)
        let failure = #expect(throws: Failure.self) {
            _ = try DeadLetterFile.files(at: folder, of: "photos")
        }
        #expect(failure?.message.contains("pipe.ndjson is not a file") == true)
    }

    @Test(arguments: SizesFixture.Kind.allCases)
    func `a place without dead letters is told, and not taken for one that is read`(
        kind: SizesFixture.Kind
    ) async throws {
        let f = try SizesFixture(kind)
        let place = try await append(["a"], to: f.library)
        let failure = await #expect(throws: Failure.self) {
            _ = try await lines(at: place.replacing("2026-11", with: "2020-01"), f.library)
        }
        #expect(failure?.code == .missingAsset)
        if kind == .bucket {
            let foreign = await #expect(throws: Failure.self) {
                _ = try await lines(at: "s3://other/lib/dead/photos/", f.library)
            }
            #expect(foreign?.code == .invalidValue)
            #expect(foreign?.message.contains("--library") == true)
        }
    }

    @Test func `the names of additions to a bucket sort by their times`() {
        let earlier = DeadLetterFile.stamp(Date(timeIntervalSince1970: 1_795_948_272.002))
        let later = DeadLetterFile.stamp(Date(timeIntervalSince1970: 1_795_948_272.345))
        #expect(earlier == "20261129T103112002")
        #expect(later == "20261129T103112345")
    }

    @Test func `dead letters are not written into the mount point of a disk that is absent`()
        async throws
    {
        let f = try LibraryFixture()
        try f.library.files.remove(f.library.root.appending("library.json"))
        let failure = await #expect(throws: Failure.self) {
            try await append(["a"], to: f.library)
        }
        #expect(failure?.code == .storeUnavailable)
    }
}
