import Edits
import BlobStore
import Editors
import Files
import FoundationEssentials
import Library
import Testing

@testable import BucketLibrary

extension RenderKey {
    /// The key of any render.
    static func test() throws -> RenderKey {
        try RenderKey(
            photo: "original", recipe: Recipe(filters: []), render: 1, owner: .operator)
    }
}

extension BucketFixture {
    /// Asks for the right to make the render of a test.
    func claim(for name: VersionName = version(1)) async throws -> RenderClaim {
        try await library.claim(.test(), of: asset, for: staged(name))
    }

    /// The render of a test that a version of the library has; nil when there is none.
    func reused(
        as name: VersionName = version(1)
    ) async throws -> (render: RenderedPhoto, entry: any RenderEntry)? {
        let staged = staged(name)
        _ = try library.staging.begin(staged)
        guard case .claimed(let entry) = try await claim(for: name),
            let render = try await entry.reuse(as: asset.stem, into: staged)
        else { return nil }
        return (render, entry)
    }

    /// Publishes a version with the render of a test, and offers it.
    func publishShared(_ name: VersionName = version(1), text: String = "pixels") async throws {
        guard case .claimed(let entry) = try await claim(for: name) else {
            throw Failure(.internalError, "the render is not ours")
        }
        let staged = try await seal(name, on: nil, text: text, key: .test())
        let sealed = try await library.record(name, asset)
        if let sealed { try await entry.offer(sealed, of: asset, in: staged) }
        _ = try await library.publish(name, of: asset, from: staged)
    }
}

@Suite("Renders shared by assets of a bucket") struct SharedRenderTests {
    /// An asset that has the render of a test, and another one with the same photo.
    private func pair() async throws -> (donor: BucketFixture, other: BucketFixture) {
        let f = try BucketFixture()
        let donor = try f.anotherMachine { $0.sharesRenders = true }
        try await donor.publishShared()
        return (donor, try await f.anotherAsset("b/IMG_0001.JPG") { $0.sharesRenders = true })
    }

    private let hex: String
    private let recordKey: String

    init() throws {
        hex = try RenderKey.test().hex
        recordKey = "renders/\(hex.prefix(2))/\(hex.dropFirst(2))"
    }

    @Test func `the same photo under another name is copied by the store, not rendered`()
        async throws
    {
        let (donor, other) = try await pair()
        let found = try #require(try await other.reused(as: version(1, 2)))
        #expect(found.render.reusedFrom == "\(donor.asset)@1-1")
        #expect(found.render.render.name == "IMG_0001.jpg")
        other.memory.resetCalls()
        let staged = try await other.seal(version(1, 2), on: nil, reusing: found.render)
        #expect(other.memory.calls.filter { $0.kind == .copy }.count == 1)
        #expect(!other.memory.calls.contains { $0.kind == .put && $0.key.hasSuffix(".jpg") })
        #expect(
            try await other.library.publish(version(1, 2), of: other.asset, from: staged)
                == .published)
        #expect(try await other.currentText() == "pixels")
        let verified = try await other.library.verify(
            other.asset, allVersions: true, editors: .standard(), now: .now)
        #expect(verified.report.problems == [])
    }

    @Test func `without the setting nothing is asked and nothing recorded`() async throws {
        let f = try BucketFixture()
        try await f.publishShared()
        let other = try await f.anotherAsset("b.jpg")
        f.memory.resetCalls()
        #expect(try await other.reused() == nil)
        #expect(f.memory.calls.map(\.description) == ["get current/b.jpg"])
        #expect(!f.memory.keys.contains { $0.hasPrefix("renders/") })
    }

    @Test func `a render that is shared takes eight requests, two for its record`() async throws {
        let f = try BucketFixture()
        let sharing = try f.anotherMachine { $0.sharesRenders = true }
        _ = try await sharing.library.state(of: f.asset)
        f.memory.resetCalls()
        _ = try await sharing.library.open(.original(f.asset))
        try await sharing.publishShared()
        #expect(f.memory.calls.count == 8, "\(f.memory.calls)")
        #expect(f.memory.calls.filter { $0.key.hasPrefix("renders/") }.map(\.kind) == [.get, .put])
    }

    @Test func `a donor that is gone, damaged or of another render is passed over`() async throws {
        for harm in ["gone", "cut", "changed", "unsealed", "other key"] {
            let (donor, other) = try await pair()
            let file = donor.fileKey(version(1))
            let provenance = donor.fileKey(version(1), Provenance.fileName)
            switch harm {
            case "gone": try donor.memory.remove(file)
            case "cut": try donor.memory.set("pix", at: file)
            case "changed": try donor.memory.set("PIXELS", at: file)
            case "unsealed": try donor.memory.remove(provenance)
            default:
                let text = try #require(donor.memory.text(provenance))
                try donor.memory.set(
                    text.replacing(hex, with: String(repeating: "0", count: 64)),
                    at: provenance)
            }
            #expect(try await other.reused() == nil, "\(harm)")
            #expect(try other.library.note(of: "IMG_0001.jpg", other.staged(version(1))) == nil)
        }
    }

    @Test
    func `a donor whose object is replaced after it was compared costs an attempt, no photo`()
        async throws
    {
        let (donor, other) = try await pair()
        _ = try #require(try await other.reused())
        try donor.memory.set("others", at: donor.fileKey(version(1)))
        let note = try #require(
            try other.library.note(of: "IMG_0001.jpg", other.staged(version(1))))
        #expect(note.tag != nil)
        let failure = await #expect(throws: BlobError.self) {
            try await donor.store.copy(
                BlobKey(donor.fileKey(version(1))), BlobTag(note.tag ?? ""),
                to: BlobKey("edits/x"), BlobAttributes())
        }
        #expect(failure?.failure().code == .ioFailure)
    }

    @Test func `a render that the store does not copy is rendered by the next attempt`()
        async throws
    {
        let (donor, other) = try await pair()
        let found = try #require(try await other.reused())
        donor.memory.fail { $0.kind == .copy ? .before(.denied) : nil }
        let failure = await #expect(throws: Failure.self) {
            try await other.seal(version(1), on: nil, reusing: found.render)
        }
        #expect(failure?.code == .storeUnavailable)
        #expect(try await other.reused() == nil)
    }

    @Test func `a wrong render is removed for all machines`() async throws {
        let (donor, other) = try await pair()
        // A command's library, which shares nothing itself.
        let command = try donor.anotherMachine()
        try await command.library.removeRenderRecord(hex)
        #expect(try await other.reused() == nil)
        try await command.library.removeRenderRecord("../../current/a")
    }

    /// A record of an asset whose name no bucket keeps.
    private static let overlongRecord: String = {
        let asset = Array(repeating: String(repeating: "y", count: 200), count: 5)
        return #"{"formatVersion":1,"places":[{"asset":"\#(asset.joined(separator: "/"))","#
            + #""version":"1-1","isDraft":false,"queue":"q","job":"j"}]}"#
    }()

    @Test(arguments: ["", "{", "[]", String(repeating: " ", count: 65 << 10), overlongRecord])
    func `a damaged record names nobody and is written anew`(text: String) async throws {
        let (donor, other) = try await pair()
        try donor.memory.set(text, at: recordKey)
        #expect(try await other.reused() == nil)
        try await other.publishShared(version(2))
        let third = try await donor.anotherAsset("c.jpg") { $0.sharesRenders = true }
        #expect(try await third.reused()?.render.reusedFrom == "\(other.asset)@2-2")
    }

    @Test func `a later release's record stays as it is`() async throws {
        let (donor, other) = try await pair()
        let text = #"{"formatVersion":2,"places":[]}"#
        try donor.memory.set(text, at: recordKey)
        guard case .lost = try await other.claim() else {
            Issue.record("the record was claimed")
            return
        }
        let staged = try await other.seal(version(1), on: nil, key: .test())
        let sealed = try #require(try await other.library.record(version(1), other.asset))
        try await other.library.offer(.test(), sealed, of: other.asset, in: staged)
        #expect(donor.memory.text(recordKey) == text)
    }

    @Test func `gc removes records that nobody has written for thirty days`() async throws {
        let (donor, other) = try await pair()
        try await other.library.removeUnusedRenderRecords()
        #expect(donor.memory.has(recordKey))
        donor.memory.now += BucketLibrary.sharedRenderAge + 1
        try await other.library.removeUnusedRenderRecords()
        #expect(!donor.memory.has(recordKey))
        #expect(try await donor.currentText() == "pixels")
    }

    @Test func `gc reports why a record stays`() async throws {
        let (donor, other) = try await pair()
        donor.memory.now += BucketLibrary.sharedRenderAge + 1
        donor.memory.lock(recordKey)
        await #expect(throws: Failure.self) { try await other.library.removeUnusedRenderRecords() }
    }
}
