import Edits
import JobQueue
import Library
import Testing

@testable import Operations

@Suite("Versions that were told and that a library lacks") struct KeptRevisionsTests {
    private func told(_ versions: KeyValuePairs<String, String>) throws -> ToldEnds {
        var ends = ToldEnds()
        for (job, version) in versions {
            let name = try #require(VersionName(version))
            ends.add(.init(job: job, what: .version(name, .replace), at: ""))
        }
        return ends
    }

    private func kept(
        _ names: String..., told: [String: Int] = [:]
    ) throws -> KeptRevisions {
        var history: [KeptRevisions.Version] = []
        for text in names {
            let name = try #require(VersionName(text))
            history.append(
                .init(
                    name: name, parent: history.last?.name.revision ?? name.revision - 1,
                    told: told[text]))
        }
        return KeptRevisions(current: history.last?.name.revision ?? 0, history)
    }

    private func lost(
        _ kept: KeptRevisions, _ versions: KeyValuePairs<String, String>
    ) throws -> [String] {
        try told(versions).lost("x", in: ToldEnds.Holdings(revisions: kept)).map(\.job)
    }

    @Test func `are those above the current one, and those whose number another one has`() throws {
        let all: KeyValuePairs = ["a": "1-10", "b": "2-20", "c": "3-30"]
        #expect(try lost(kept("1-10", "2-20", "3-30"), all) == [])
        #expect(try lost(kept("1-10"), all) == ["b", "c"])
        #expect(try lost(kept(), all) == ["a", "b", "c"])
        #expect(try lost(kept("1-10", "2-40"), all) == ["b", "c"])
        #expect(try lost(kept("1-10", "2-40", "3-50"), all) == ["b", "c"])
    }

    @Test func `are not those that were collected`() throws {
        #expect(try lost(kept("3-30"), ["a": "1-10", "b": "2-20", "c": "3-30"]) == [])
    }

    @Test func `are those whose numbers the history leaves out, until their jobs publish others`()
        throws
    {
        let gap = try kept("1-10", "5-50", "6-60", told: ["5-50": 4])
        let before: KeyValuePairs = ["a": "1-10", "b": "2-20", "c": "3-30", "d": "4-40"]
        #expect(try lost(gap, before) == ["b", "c", "d"])
        let after: KeyValuePairs = [
            "a": "1-10", "b": "2-20", "c": "3-30", "d": "4-40", "b": "5-50", "new": "6-60",
        ]
        #expect(try lost(gap, after) == ["c", "d"])
        // The first version is the one after the gap.
        #expect(try lost(kept("3-30", told: ["3-30": 2]), ["a": "1-10", "b": "2-20"]) == [])
        let first = KeptRevisions(
            current: 3,
            [.init(name: VersionName(revision: 3, fence: "30"), parent: 0, told: 2)])
        #expect(try lost(first, ["a": "1-10", "b": "2-20", "c": "3-30"]) == ["a", "b"])
    }

    @Test func `are named once with the highest number that was told`() throws {
        let jobs = try told(["b": "2-20", "b": "2-20", "c": "7-30"])
            .lost("x", in: ToldEnds.Holdings(revisions: kept("1-10")))
        #expect(
            jobs == [
                LostJob(job: "b", asset: "x", version: "2-20", told: 7),
                LostJob(job: "c", asset: "x", version: "7-30", told: 7),
            ])
        // A record without a version is no gap.
        #expect(try lost(kept("1-10", "2-20", told: ["2-20": 1]), ["a": "1-10"]) == [])
    }
}
