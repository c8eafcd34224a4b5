import Edits
import BlobStore
import Editors
import FoundationEssentials
import Library
import Testing

@testable import BucketLibrary

@Suite("Verifying in a bucket") struct BucketVerifyingTests {
    /// An asset with two versions, the undo of the second, and a draft.
    private func edited(reportsDigests: Bool = true) async throws -> BucketFixture {
        let f = try BucketFixture(memory: MemoryBlobStore(reportsDigests: reportsDigests))
        _ = try await f.publish(version(1), on: nil, text: "one")
        _ = try await f.publish(version(2), on: version(1), text: "two")
        _ = try await f.publish(version(3, 30), on: version(2), text: "draft", isDraft: true)
        return f
    }

    private func verify(
        _ f: BucketFixture, allVersions: Bool = true
    ) async throws -> VerifiedFiles {
        let other = try f.anotherMachine()
        defer { withExtendedLifetime(other) {} }
        return try await other.library.verify(
            f.asset, allVersions: allVersions, editors: .standard(),
            now: Date(timeIntervalSince1970: Double(f.memory.now)))
    }

    @Test(arguments: [true, false])
    func `what is as it was written is sound, and its renders can be made again`(
        _ reportsDigests: Bool
    ) async throws {
        let f = try await edited(reportsDigests: reportsDigests)
        let found = try await verify(f)
        #expect(found.report.problems == [])
        #expect(found.report.versions == ["3-30", "2-2", "1-1"])
        #expect(found.renders.count == 3)
        #expect(found.renders.allSatisfy { $0.source == .original(f.asset) })
        #expect(try await verify(f, allVersions: false).report.versions == ["3-30", "2-2"])
    }

    @Test func `nothing is checked of what nobody has edited, and a wrong name is reported`()
        async throws
    {
        let f = try BucketFixture()
        #expect(try await verify(f).report.versions == [])
        try f.memory.remove("originals/\(f.asset)")
        let failure = await #expect(throws: Failure.self) { _ = try await verify(f) }
        #expect(failure?.code == .missingAsset)
    }

    @Test func `bytes are compared, not the digest that an object was written with`() async throws {
        let f = try await edited()
        try f.memory.harm(f.fileKey(version(2)), "TWO")
        #expect(try await verify(f).report.problems.map(\.subject) == [.render])
    }

    /// Harm that is done to a bucket, and the part that is found to be wrong.
    private static let harms: [(String, Verification.Subject)] = [
        ("edits/2024/IMG_0001.JPG/versions/1-1/IMG_0001.jpg", .render),
        ("edits/2024/IMG_0001.JPG/versions/2-2/IMG_0001.AAE", .adjustmentData),
        ("edits/2024/IMG_0001.JPG/versions/2-2/provenance.json", .provenance),
        ("edits/2024/IMG_0001.JPG/versions/1-1/provenance.json", .provenance),
        ("originals/2024/IMG_0001.JPG", .original),
    ]

    @Test(arguments: harms.indices, [true, false])
    func `a file that is missing, and one that is another one, is found`(
        _ index: Int, _ isMissing: Bool
    ) async throws {
        let (key, part) = Self.harms[index]
        for reportsDigests in [true, false] {
            let f = try await edited(reportsDigests: reportsDigests)
            if isMissing { try f.memory.remove(key) } else { try f.memory.set("xxx", at: key) }
            let report = try await verify(f).report
            #expect(report.problems.contains { $0.subject == part }, "\(report)")
        }
    }

    @Test func `a file that no version has, and a version that no head names, is reported`()
        async throws
    {
        let f = try await edited()
        try f.memory.set("x", at: f.fileKey(version(2), "stray.txt"))
        _ = try await f.seal(version(3, 7), on: version(2))
        var report = try await verify(f).report
        #expect(report.problems.map(\.subject) == [.stray])
        #expect(report.notes.count { $0.subject == .stray } == 1)
        f.memory.now += 2 * 24 * 3600
        report = try await verify(f).report
        #expect(report.problems.map(\.subject) == [.stray, .stray])
    }
}
