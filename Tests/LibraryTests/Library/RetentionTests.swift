import Edits
import FoundationEssentials
import Library
import Testing

@Suite("Retention") struct RetentionTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)

    /// Versions of these ages in days, the current one first.
    private func history(_ ages: [Double]) -> [Provenance] {
        ages.enumerated().map { index, age in
            let made = now.addingTimeInterval(-age * 86400)
            return version(ages.count - index, at: made.formatted(.iso8601))
        }
    }

    private func version(_ revision: Int, at time: String) -> Provenance {
        let name = VersionName(revision: revision, fence: "1")
        return Provenance(
            version: name, parent: nil, mode: .replace,
            author: Provenance.Author(
                queue: nil, job: "job", generation: 1, attempt: 1, worker: "w", at: time),
            timeline: Timeline.start.edited(by: name), content: nil)
    }

    private func collected(_ rule: Retention, _ history: [Provenance]) -> [Int] {
        history.dropFirst(rule.keptCount(of: history.map(\.author.date), now: now)).reversed()
            .map(\.revision)
    }

    @Test func `the newest so many are kept and the rest go, oldest first`() {
        let rule = Retention(versions: 2, age: nil)
        #expect(collected(rule, history([0, 1, 2, 3, 4])) == [1, 2, 3])
    }

    @Test func `what is young is kept, however many there are`() {
        let rule = Retention(versions: 1, age: 3 * 86400)
        #expect(collected(rule, history([0, 1, 2, 3, 4])) == [1, 2])
    }

    @Test func `what is old is kept while there are few`() {
        #expect(collected(Retention(versions: 3, age: 0), history([300, 400, 500])) == [])
    }

    @Test func `the current version is kept, however old it is`() {
        #expect(collected(Retention(versions: 1, age: 0), history([4000])) == [])
    }

    @Test func `nothing goes ahead of something older that stays`() {
        // A clock went back: the oldest looks the youngest.
        let rule = Retention(versions: 1, age: 2 * 86400)
        #expect(collected(rule, history([9, 8, 7, 1])) == [])
        #expect(collected(rule, history([9, 8, 1, 7])) == [1])
    }

    @Test func `what cannot be dated counts as young`() {
        let odd = [version(2, at: "2026-01-01T00:00:00Z"), version(1, at: "last tuesday")]
        #expect(collected(Retention(versions: 1, age: 60), odd) == [])
        #expect(collected(Retention(versions: 1, age: nil), odd) == [1])
    }

    @Test func `an asset without a version has nothing to collect`() {
        #expect(collected(.standard, []) == [])
    }

    @Test func `when nobody says, twenty versions and those of ninety days are kept`() {
        let ages = (0..<25).map { Double($0) * 5 }
        // The 20th is 95 days old, and older ones are older than 90 days.
        #expect(collected(.standard, history(ages)) == [1, 2, 3, 4, 5])
        #expect(collected(.standard, history(ages.map { $0 / 2 })) == [])
    }
}
