import Edits
import JobQueue
import Library
import Testing

@testable import Operations

@Suite("What events tell of an asset, beside what a library has of it") struct ToldEndsTests {
    private static let file = MadeFile(
        mediaType: "image/jpeg", size: PixelSize(width: 1, height: 1), bytes: 1, sha256: "00")

    private func name(_ text: String) throws -> VersionName { try #require(VersionName(text)) }

    private func told(_ ends: KeyValuePairs<String, ToldEnds.What>) -> ToldEnds {
        var told = ToldEnds()
        for (job, what) in ends {
            told.add(.init(job: job, what: what, at: "2026-11-29T10:00:00Z"))
        }
        return told
    }

    private func kept(
        _ versions: String..., draft: String? = nil, listed: Set<String> = []
    ) throws -> ToldEnds.Holdings {
        let names = try versions.map { try name($0) }
        let revisions = KeptRevisions(
            current: names.last?.revision ?? 0,
            names.map { .init(name: $0, parent: $0.revision - 1, told: nil) })
        var kept = ToldEnds.Holdings(revisions: revisions, listed: listed)
        kept.draft = try draft.map { try name($0) }
        return kept
    }

    @Test
    func `a draft is lost unless it is there, was published, was discarded, or a newer one came`()
        throws
    {
        let ends = told(["a": .version(try name("1-10"), .replace), "b": .draft(try name("2-20"))])
        let lost = ends.lost("x", in: try kept("1-10"))
        #expect(
            lost == [LostJob(job: "b", asset: "x", version: "2-20", told: 0, lack: .draft)])
        #expect(try ends.lost("x", in: kept("1-10", draft: "2-15")).map(\.job) == ["b"])
        #expect(try ends.lost("x", in: kept("1-10", draft: "2-20")).isEmpty)
        #expect(try ends.lost("x", in: kept("1-10", draft: "2-30")).isEmpty)
        #expect(try ends.lost("x", in: kept("1-10", "2-40", listed: ["2-20"])).isEmpty)
        for end in [
            ToldEnds.What.version(try name("2-30"), .publish), .nothing(removesDraft: true),
        ] {
            var ended = ends
            ended.add(.init(job: "c", what: end, at: ""))
            #expect(try ended.lost("x", in: kept("1-10", "2-30")).isEmpty)
        }
    }

    @Test func `a lost version that was a draft needs the draft, if that is lost, too`() throws {
        let ends = told([
            "a": .draft(try name("1-10")), "b": .draft(try name("1-20")),
            "c": .version(try name("1-30"), .publish),
        ])
        let base = LostJob.Base(job: "b", version: "1-20")
        #expect(
            try ends.lost("x", in: kept()) == [
                LostJob(job: "b", asset: "x", version: "1-20", told: 1, lack: .draft),
                LostJob(job: "c", asset: "x", version: "1-30", told: 1, base: base),
            ])
        #expect(
            try ends.lost("x", in: kept(draft: "1-20")) == [
                LostJob(job: "c", asset: "x", version: "1-30", told: 1)
            ])
        #expect(try ends.lost("x", in: kept("1-30", listed: ["1-30", "1-20"])).isEmpty)
    }

    @Test
    func `renditions are lost with their version, or where its list has neither them nor a trace`()
        throws
    {
        let version = try name("1-10")
        let ends = told([
            "a": .version(version, .replace),
            "b": .renditions(["web": Self.file], of: version),
            "c": .version(try name("2-20"), .replace),
        ])
        var there = try kept("1-10", "2-20")
        #expect(ends.lost("x", in: there).isEmpty, "it was collected")
        there.sizes[version] = SizeList()
        #expect(
            ends.lost("x", in: there) == [
                LostJob(job: "b", asset: "x", version: "1-10", told: 0, lack: .renditions)
            ])
        let lost = ends.lost("x", in: try kept())
        #expect(lost.map(\.job) == ["a", "b", "c"] && lost.map(\.told) == [2, 2, 2])
        #expect(lost[1].base == LostJob.Base(job: "a", version: "1-10"))
        // A draft has the number of no version.
        let ofDraft = told(["b": .renditions(["web": Self.file], of: try name("3-30"))])
        #expect(try ofDraft.lost("x", in: kept("1-10", "2-20")).isEmpty)
    }

    @Test func `a job that was done again and ended otherwise is not lost any more`() throws {
        let version = ToldEnds.What.version(try name("1-10"), .publish)
        let draft = ToldEnds.What.draft(try name("1-20"))
        for what in [version, draft] {
            let ends = told(["a": what, "a": .nothing(removesDraft: false)])
            #expect(try ends.lost("x", in: kept()).isEmpty)
        }
    }
}
