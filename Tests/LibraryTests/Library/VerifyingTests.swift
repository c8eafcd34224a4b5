import Edits
import Editors
import Files
import FoundationEssentials
import SystemPackage
import Testing

@testable import Library

@Suite("Verifying files") struct VerifyingTests {
    private static let day: TimeInterval = 24 * 3600
    /// Ten seconds after the edits, which are of the first second of 2026.
    private let now = Date(timeIntervalSince1970: 1_767_225_600 + 10)

    private func name(_ revision: Int) -> VersionName {
        VersionName(revision: revision, fence: "\(revision)")
    }

    /// An asset with an edit, one stacked on it, and a draft.
    private func edited() async throws -> LibraryFixture {
        let f = try LibraryFixture()
        _ = try await f.publish(name(1), on: nil, text: "first")
        for (revision, isDraft) in [(2, false), (3, true)] {
            let staged = try await f.seal(
                name(revision), on: name(revision - 1), text: "number \(revision)",
                isDraft: isDraft,
                base: "first")
            #expect(
                try await f.library.publish(name(revision), of: f.asset, from: staged) == .published
            )
        }
        return f
    }

    private func verify(
        _ f: LibraryFixture, all: Bool = false, later: TimeInterval = 0
    ) async throws -> Verification {
        try await f.library.verify(
            f.asset, allVersions: all, editors: .standard(), now: now.addingTimeInterval(later)
        ).report
    }

    /// What is wrong, as part and path below the asset's folder.
    private func problems(_ report: Verification, _ f: LibraryFixture) -> [String] {
        report.problems.map {
            let path = $0.path.replacing(f.library.folder(of: f.asset).path.string + "/", with: "")
            return "\($0.subject.rawValue) \(path)"
        }
    }

    private func flip(_ path: FilePath, at offset: Int? = nil) throws {
        let url = URL(filePath: path.string)
        var bytes = try Data(contentsOf: url)
        bytes[offset ?? bytes.count / 2] ^= 1
        // In place would change the files that are links of it too.
        try bytes.write(to: url, options: .atomic)
    }

    @Test func `an asset as it was published is sound`() async throws {
        let f = try await edited()
        let report = try await verify(f, all: true)
        #expect(report.isSound && report.notes.isEmpty, "\(report)")
        #expect(report.versions == ["3-3", "2-2", "1-1"])
        #expect(try await verify(f).versions == ["3-3", "2-2"])
    }

    @Test func `an asset that nobody has edited is sound, one that is not there is missing`()
        async throws
    {
        let f = try LibraryFixture()
        #expect(try await verify(f).isSound)
        await #expect(throws: Failure.self) {
            try await f.library.verify(
                AssetPath("nobody.jpg"), allVersions: false, editors: .standard(), now: now)
        }
    }

    @Test(arguments: [
        ("IMG_0001.jpg", "render"), ("base/IMG_0001.jpg", "base"),
        ("IMG_0001.AAE", "adjustmentData"), ("provenance.json", "provenance"),
    ])
    func `one flipped byte of a file is found and named`(file: String, part: String) async throws {
        let f = try await edited()
        let folder = f.library.folder(of: f.asset).folder(name(2), on: .versions)
        try flip(folder.pushing(FilePath(file)))
        let report = try await verify(f)
        #expect(problems(report, f).contains("\(part) versions/2-2/\(file)"), "\(report.problems)")
    }

    @Test func `one flipped byte of the original is found and named, once`() async throws {
        let f = try await edited()
        let original = try f.library.original(of: f.asset)
        try flip(original)
        let report = try await verify(f, all: true)
        #expect(problems(report, f) == ["original \(original)"])
    }

    @Test func `every byte of sidecar and provenance counts`() async throws {
        let f = try await edited()
        let folder = f.library.folder(of: f.asset).folder(name(2), on: .versions)
        for file in ["IMG_0001.AAE", "provenance.json"] {
            let path = folder.appending(file)
            let whole = try Data(contentsOf: URL(filePath: path.string))
            for offset in stride(from: 0, to: whole.count, by: 7) {
                try flip(path, at: offset)
                #expect(try await !verify(f).isSound, "\(file) at \(offset)")
                try whole.write(to: URL(filePath: path.string))
            }
            #expect(try await verify(f).isSound)
        }
    }

    @Test(arguments: [
        ("IMG_0001.jpg", "render"), ("base/IMG_0001.jpg", "base"),
        ("IMG_0001.AAE", "adjustmentData"), ("provenance.json", "provenance"),
    ])
    func `a missing file is found and named`(file: String, part: String) async throws {
        let f = try await edited()
        let folder = f.library.folder(of: f.asset).folder(name(2), on: .versions)
        try f.library.files.remove(folder.pushing(FilePath(file)))
        #expect(problems(try await verify(f), f).contains("\(part) versions/2-2/\(file)"))
    }

    @Test func `a pointer to a version that is not there, or to none, is found`() async throws {
        let f = try await edited()
        let pointer = f.library.folder(of: f.asset).pointer(.versions)
        for target in ["versions/9-9", "somewhere"] {
            try f.library.files.remove(pointer)
            try f.library.files.point(pointer, to: target)
            #expect(problems(try await verify(f), f).contains("pointer current"), "\(target)")
        }
    }

    @Test func `a pointer that was turned back makes the newer version stray, after a day`()
        async throws
    {
        let f = try await edited()
        let pointer = f.library.folder(of: f.asset).pointer(.versions)
        try f.library.files.remove(pointer)
        try f.library.files.point(pointer, to: "versions/1-1")
        let young = try await verify(f)
        #expect(young.isSound && young.notes.contains { $0.subject == .stray })
        #expect(
            problems(try await verify(f, later: 2 * Self.day), f).contains("stray versions/2-2"))
    }

    @Test func `what does not belong there is stray`() async throws {
        let f = try await edited()
        let shelf = f.library.folder(of: f.asset).shelf(.versions)
        try f.put("?", at: shelf.appending("notes.txt"))
        try f.put("?", at: shelf.appending("2-2").appending("copy.jpg"))
        let removed = ".nfs000000000006000200000001"
        try f.put("?", at: shelf.appending("2-2").appending(removed))
        try f.put("?", at: shelf.appending("2-2").appending("base").appending(removed))
        try f.put("?", at: shelf.appending("2-2").appending("base").appending("other.jpg"))
        #expect(
            problems(try await verify(f), f) == [
                "stray versions/notes.txt", "stray versions/2-2/base/other.jpg",
                "stray versions/2-2/copy.jpg",
            ])
    }

    /// Contents of a damaged record, and the place in it that is told.
    private static let damages = [
        ("{", "it is not valid JSON"), (#"{"formatVersion":1}"#, " is missing"),
        ("[]", "the document is not an object"),
    ]

    @Test(arguments: damages)
    func `a damaged record is told with its path once, and in words`(
        bytes: String, why: String
    ) async throws {
        let f = try await edited()
        let record = f.library.folder(of: f.asset).shelf(.versions).appending("2-2")
            .appending(Provenance.fileName)
        try Data(bytes.utf8).write(to: URL(filePath: record.string), options: .atomic)
        let found = try await verify(f).problems.filter {
            $0.path == record.string && $0.sentence.contains("is no provenance")
        }
        #expect(found.count == 1)
        let sentence = try #require(found.first).sentence
        #expect(
            sentence.hasPrefix("it is no provenance: ") && sentence.contains(why), "\(sentence)")
        #expect(!sentence.contains(record.string) && !sentence.contains("Error"), "\(sentence)")
        #expect(sentence.split(separator: "Restore it").count == 2, "\(sentence)")
    }

    @Test func `a version in another's folder is found`() async throws {
        let f = try await edited()
        let shelf = f.library.folder(of: f.asset).shelf(.versions)
        try f.library.files.remove(shelf.appending("2-2"))
        try f.library.files.move(shelf.appending("1-1"), to: shelf.appending("2-2"))
        #expect(
            problems(try await verify(f), f).contains("provenance versions/2-2/provenance.json"))
    }

    @Test func `a history with a gap is found; one whose oldest were collected is sound`()
        async throws
    {
        let f = try LibraryFixture()
        for revision in 1...4 {
            _ = try await f.publish(name(revision), on: revision > 1 ? name(revision - 1) : nil)
        }
        let shelf = f.library.folder(of: f.asset).shelf(.versions)
        try f.library.files.remove(shelf.appending("1-1"))
        #expect(try await verify(f, all: true).isSound)
        try f.library.files.remove(shelf.appending("3-3"))
        #expect(problems(try await verify(f), f).contains("timeline versions/4-4"))
    }

    @Test func `a draft that cannot be published any more is reported`() async throws {
        let f = try await edited()
        _ = try await f.publish(VersionName(revision: 3, fence: "9"), on: name(2))
        let report = try await verify(f)
        #expect(report.isSound && report.notes.map(\.subject) == [.draft])
    }

    @Test func `a version that goes while it is read is no problem`() async throws {
        let f = try await edited()
        let draft = try #require(try await f.library.state(of: f.asset).draft)
        _ = try await f.library.discardDraft(of: f.asset, VersionName(draft.version))
        var files = f.library.versionFiles(
            of: f.asset, try .standard(), Verification(of: f.asset))
        try await f.library.check(draft, of: f.asset, &files)
        #expect(files.report.isSound && files.report.notes.map(\.subject) == [.stray])
        #expect(files.renders.isEmpty)
    }

    @Test func `a version contradicts its parent by its revision, its position or what it shows`()
        async throws
    {
        let f = try await edited()
        let history = try await f.library.history(of: f.asset)
        let (second, first) = (history[0], history[1])
        func changed(
            _ mode: Edit.Name = .replace, on parent: Provenance? = first, timeline: Timeline? = nil,
            content: Content? = second.content, revision: Int = 2, told: Int = 0
        ) -> [String] {
            Provenance(
                version: VersionName(revision: revision, fence: "2"), parent: name(1), mode: mode,
                author: second.author, told: told, timeline: timeline ?? second.timeline,
                content: content
            ).contradictions(to: parent) { $0 == "1-1" ? first : nil }
        }
        let undone = first.timeline.undone(to: nil)
        #expect(changed() == [])
        #expect(changed(revision: 3).count >= 1)
        // Versions up to 5 were told, and a restored library lost them.
        #expect(
            changed(
                on: first,
                timeline: first.timeline.edited(by: VersionName(revision: 6, fence: "2")),
                revision: 6, told: 5) == [])
        #expect(changed(revision: 5, told: 5).count >= 1)
        #expect(changed(told: 1) == [], "told no more than it has")
        #expect(changed(timeline: undone).count == 1)
        #expect(changed(.undo, timeline: undone, content: nil) == [])
        #expect(changed(.undo, timeline: undone).count == 1)
        #expect(changed(.redo).count == 1)
        #expect(changed(.revert).count == 1)
        #expect(changed(on: nil).count >= 1)
    }
}
