import Edits
import FoundationEssentials
import Testing

@testable import Library

/// Decisions that folder and bucket share, without either.
@Suite("Whether a version is published") struct PublishFactsTests {
    private func version(
        _ name: String, on parent: String? = nil, isDraft: Bool = false, job: String? = nil,
        arrival: Int? = nil, history: PublishedJobs = PublishedJobs()
    ) throws -> Provenance {
        let name = try #require(VersionName(name))
        return Provenance(
            version: name, parent: parent.flatMap(VersionName.init), isDraft: isDraft,
            mode: .replace,
            author: Provenance.Author(
                queue: "photos", job: job ?? "job-\(name)", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T00:00:00Z", arrival: arrival),
            edit: "00", history: history, timeline: Timeline.start.edited(by: name), content: nil)
    }

    private func facts(
        current: Provenance? = nil, draft: Provenance? = nil, confirmed: Int? = nil,
        wasCurrent: Bool = false, isGoing: Bool = false
    ) -> PublishFacts {
        let state = AssetState(current: current, draft: draft, confirmed: confirmed)
        return PublishFacts(
            state: state, jobs: PublishedJobs(merging: state.versions.compactMap(\.publishedJobs)),
            wasCurrent: wasCurrent, isGoing: isGoing)
    }

    @Test func `it is, on the version that it was made from`() throws {
        #expect(try facts().decision(on: version("1-1")) == .publish)
        let current = try version("1-1")
        #expect(try facts(current: current).decision(on: version("2-2", on: "1-1")) == .publish)
        #expect(
            try facts(current: current).decision(on: version("2-3", on: "1-1", isDraft: true))
                == .publish)
    }

    @Test func `it is once, whatever happened since`() throws {
        let (current, draft) = (try version("1-1"), try version("2-2", on: "1-1", isDraft: true))
        let facts = facts(current: current, draft: draft)
        #expect(facts.decision(on: current) == .isShown)
        #expect(facts.decision(on: draft) == .isShown)
        let later = self.facts(
            current: try version("2-9", on: "1-1"), wasCurrent: true, isGoing: true)
        #expect(later.decision(on: current) == .wasCurrent)
    }

    @Test func `it is not if its job has made another one, even on the same version`() throws {
        let made = try version("2-2", on: "1-1", job: "j")
        let again = try version("3-3", on: "2-2", job: "j")
        #expect(facts(current: made).decision(on: again) == .wasMade("2-2"))
        // A draft that was published since, and removed.
        let draft = try version("2-5", on: "1-1", isDraft: true, job: "d")
        let jobs = try #require(draft.publishedJobs)
        let published = try version("2-6", on: "1-1", history: jobs)
        #expect(facts(current: published).decision(on: draft) == .wasMade("2-5"))
    }

    @Test func `it is not while files of it are being removed`() throws {
        #expect(try facts(isGoing: true).decision(on: version("1-1")) == .lost)
        // The answer that needs no further render comes first.
        let made = try version("1-1", job: "j")
        #expect(
            try facts(current: made, isGoing: true).decision(on: version("2-2", job: "j"))
                == .wasMade("1-1"))
    }

    @Test func `it is not on a version that is not current any more`() throws {
        let current = try version("1-7")
        let name = VersionName("1-7")
        #expect(
            try facts(current: current).decision(on: version("1-8")) == .conflict(current: name))
        #expect(try facts().decision(on: version("2-2", on: "1-1")) == .conflict(current: nil))
        // Without its parent it would be a conflict anyway, but its files are reported first.
        #expect(
            try facts(current: current, isGoing: true).decision(on: version("1-8")) == .lost)
    }

    @Test func `of two that are based on one version the one that arrived later is kept`() throws {
        let current = try version("1-1", arrival: 10)
        let next = try version("2-2", on: "1-1", arrival: 20)
        let name = VersionName("1-1")
        #expect(
            facts(current: current, confirmed: 30).decision(on: next) == .conflict(current: name))
        #expect(facts(current: current, confirmed: 15).decision(on: next) == .publish)
        let draft = try version("2-5", on: "1-1", isDraft: true, arrival: 40)
        let other = try version("2-6", on: "1-1", isDraft: true, arrival: 39)
        #expect(
            facts(current: current, draft: draft).decision(on: other)
                == .conflict(current: VersionName("2-5")))
        #expect(facts(current: current, draft: other).decision(on: draft) == .publish)
        // An unknown arrival replaces none that is known.
        #expect(
            try facts(current: current, confirmed: 30).decision(on: version("2-3", on: "1-1"))
                == .publish)
    }

    @Test func `an edit without effect is recorded if it arrived last`() throws {
        let version = try version("1-1", arrival: 10)
        func decision(_ current: String?, _ known: Int?, _ arrival: Int) -> ConfirmDecision {
            ConfirmDecision(version, current: current, known: known, arrival: arrival)
        }
        #expect(decision(nil, nil, 20) == .isReplaced && decision("2-2", nil, 20) == .isReplaced)
        #expect(decision("1-1", nil, 10) == .isKnown && decision("1-1", 20, 20) == .isKnown)
        #expect(decision("1-1", nil, 11) == .record && decision("1-1", 20, 21) == .record)
    }

    @Test func `a walk asks for each version once, and ends at what is not kept`() throws {
        let versions = try [version("1-1"), version("2-2", on: "1-1"), version("3-3", on: "2-2")]
        func walk(_ floor: Int = 1, atMost count: Int = .max, without missing: String = "")
            -> [String]
        {
            var walk = HistoryWalk(from: VersionName("3-3"), floor: floor, atMost: count)
            while let next = walk.next {
                walk.add(versions.first { $0.version == next.description && $0.version != missing })
            }
            return walk.versions.map(\.version)
        }
        #expect(walk() == ["3-3", "2-2", "1-1"])
        #expect(walk(2) == ["3-3", "2-2"] && walk(4) == [])
        #expect(walk(atMost: 2) == ["3-3", "2-2"])
        #expect(walk(without: "2-2") == ["3-3"])
    }

    @Test func `the jobs of a version that lists them need no other version`() throws {
        let version = try version("2-2", on: "1-1")
        let walk = HistoryWalk(listingJobsOf: version)
        #expect(walk.next == nil && walk.jobs == version.publishedJobs)
    }

    @Test func `a version in no history goes when its job has ended long before`() {
        let now = Date(timeIntervalSince1970: 1_000_000_000)
        func goes(_ days: Double?, _ age: Double?, _ mayHaveBeenCurrent: Bool) -> Bool {
            Retention(versions: 1, age: age.map { $0 * 86_400 }).collectsOrphan(
                made: days.map { now.addingTimeInterval(-$0 * 86_400) },
                mayHaveBeenCurrent: mayHaveBeenCurrent, now: now)
        }
        #expect(goes(2, nil, true) && !goes(0.9, nil, false) && !goes(nil, nil, false))
        #expect(goes(2, 90, false) && !goes(2, 90, true) && goes(91, 90, true))
    }
}
