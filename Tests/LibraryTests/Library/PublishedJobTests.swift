import Edits
import Files
import FoundationEssentials
import SystemPackage
import Testing

@testable import Library

/// Redis may lose its last second: a job that is done is run again, on top of what it has made.
@Suite("Jobs that were published before") struct PublishedJobTests {
    private let f: LibraryFixture

    init() throws { f = try LibraryFixture() }

    private func name(_ revision: Int) -> VersionName {
        VersionName(revision: revision, fence: "\(revision)")
    }

    /// Publishes one version on top of the current one.
    private func publish(
        _ name: VersionName, job: String, generation: Int = 1, edit: String? = "ee",
        isDraft: Bool = false, publishing draft: VersionName? = nil,
        at time: String = "2026-01-01T00:00:00Z"
    ) async throws -> Publication {
        let staged = try await f.seal(
            name, on: f.library.folder(of: f.asset).pointed(.versions), text: "\(name)",
            isDraft: isDraft,
            publishing: draft, job: job, generation: generation, edit: edit, at: time)
        return try await f.library.publish(name, of: f.asset, from: staged)
    }

    private func isGone(_ name: VersionName) throws -> Bool {
        let staged = StagedVersion(queue: "photos", job: "job", fence: name.fence)
        for folder in [
            f.library.staging.folder(of: staged), f.library.staging.lockFile(of: staged),
        ]
            + Shelf.allCases.map({ f.library.folder(of: f.asset).folder(name, on: $0) })
        where try f.library.files.exists(folder) {
            return false
        }
        return true
    }

    @Test func `are not published again, however many edits came between`() async throws {
        #expect(try await publish(name(1), job: "append") == .published)
        #expect(try await publish(name(2), job: "append") == .publishedBefore("1-1"))
        for revision in 2...6 {
            #expect(try await publish(name(revision), job: "other-\(revision)") == .published)
            let again = VersionName(revision: revision + 1, fence: "\(100 + revision)")
            #expect(try await publish(again, job: "append") == .publishedBefore("1-1"))
            #expect(try isGone(again))
        }
        #expect(try f.currentText() == "6-6")
        #expect(try await f.library.history(of: f.asset).count == 6)
    }

    @Test func `are stated with the versions before a version, drafts and other queues left out`()
        async throws
    {
        for revision in 1...2 { _ = try await publish(name(revision), job: "job-\(revision)") }
        let draft = VersionName(revision: 3, fence: "7")
        _ = try await publish(draft, job: "drafter", isDraft: true)
        _ = try await publish(name(3), job: "publisher", publishing: draft)
        let current = try #require(try await f.library.state(of: f.asset).current)
        #expect(
            current.earlierVersions(of: "photos").map { "\($0.version) \($0.job)" }
                == ["2-2 job-2", "1-1 job-1"])
        #expect(current.earlierVersions(of: "other").isEmpty)
    }

    @Test func `are others if generation, queue or edit is another one`() async throws {
        #expect(try await publish(name(1), job: "append") == .published)
        #expect(try await publish(name(2), job: "append", generation: 2) == .published)
        // A second Redis server gave the same name to another job.
        #expect(try await publish(name(3), job: "append", edit: "ff") == .published)
        #expect(try await publish(name(4), job: "append", edit: "ff") == .publishedBefore("3-3"))
        let author = Provenance.Author(
            queue: "other", job: "append", generation: 1, attempt: 1, worker: "w",
            at: "2026-01-01T00:00:00Z")
        let state = try await f.library.state(of: f.asset)
        let other = PublishedJob(author, edit: "ee", version: "")
        #expect(try await f.library.publishedBefore(other, of: f.asset, state) == nil)
        let nobody = Provenance.Author(
            queue: nil, job: "append", generation: 1, attempt: 1, worker: "w",
            at: "2026-01-01T00:00:00Z")
        #expect(PublishedJob(nobody, edit: "ee", version: "") == nil)
    }

    @Test func `are others when the name comes again after a day`() async throws {
        #expect(try await publish(name(1), job: "nightly") == .published)
        #expect(
            try await publish(name(2), job: "nightly", at: "2026-01-01T23:59:59Z")
                == .publishedBefore("1-1"))
        #expect(
            try await publish(name(2), job: "nightly", at: "2026-01-02T00:00:00Z") == .published)
    }

    @Test func `are known when retention has collected what they made`() async throws {
        #expect(try await publish(name(1), job: "append") == .published)
        #expect(try await publish(name(2), job: "other") == .published)
        let one = Retention(versions: 1, age: nil)
        let collected = try await f.library.collect(f.asset, keeping: one, now: .distantFuture)
        #expect(collected.versions == ["1-1"])
        #expect(try await publish(name(3), job: "append") == .publishedBefore("1-1"))
        let state = try await f.library.state(of: f.asset)
        let job = try #require(state.current?.published?.last)
        #expect(try await f.library.publishedBefore(job, of: f.asset, state) == .gone("1-1"))
    }

    @Test func `are known from a draft, also when that was published since`() async throws {
        #expect(try await publish(name(1), job: "draft", isDraft: true) == .published)
        let again = VersionName(revision: 1, fence: "7")
        #expect(try await publish(again, job: "draft", isDraft: true) == .publishedBefore("1-1"))
        #expect(try await f.library.state(of: f.asset).draft?.version == "1-1")
        let published = VersionName(revision: 1, fence: "8")
        #expect(try await publish(published, job: "publish", publishing: name(1)) == .published)
        let late = VersionName(revision: 2, fence: "9")
        #expect(try await publish(late, job: "draft", isDraft: true) == .publishedBefore("1-1"))
        #expect(try await publish(late, job: "publish") == .publishedBefore("1-8"))
        #expect(try await f.library.state(of: f.asset).draft == nil)
    }

    @Test func `are known from versions that an earlier release made, which had no list`()
        async throws
    {
        for revision in 1...3 {
            #expect(try await publish(name(revision), job: "job-\(revision)") == .published)
            let path = f.library.folder(of: f.asset).folder(name(revision), on: .versions)
                .appending(Provenance.fileName)
            guard
                case .object(var fields) = try JSONDecoder().decode(
                    JSONValue.self, from: Data(contentsOf: URL(filePath: path.string)))
            else { return }
            fields["published"] = nil
            fields["formatVersion"] = nil
            try f.library.files.remove(path)
            try f.library.files.write(JSONEncoder().encode(JSONValue.object(fields)), to: path)
        }
        for revision in 1...3 {
            #expect(
                try await publish(name(4), job: "job-\(revision)")
                    == .publishedBefore("\(revision)-\(revision)"))
        }
        #expect(try await publish(name(4), job: "new") == .published)
        let state = try await f.library.state(of: f.asset)
        #expect(
            state.current?.published?.map(\.job) == ["new", "job-3", "job-2", "job-1"])
    }

    @Test func `are counted in one file, which lists 32 in full and the others in brief`()
        async throws
    {
        for revision in 1...40 {
            #expect(try await publish(name(revision), job: "job-\(revision)") == .published)
        }
        // Nothing but the current version is needed to know.
        for revision in 1...39 {
            try f.library.files.remove(
                f.library.folder(of: f.asset).folder(name(revision), on: .versions))
        }
        let state = try await f.library.state(of: f.asset)
        #expect(
            try await f.library.publishedJobs(of: f.asset, state).listed.map(\.job)
                == (9...40).reversed().map { "job-\($0)" })
        for revision in 1...40 {
            #expect(
                try await publish(name(41), job: "job-\(revision)")
                    == .publishedBefore("\(revision)-\(revision)"))
        }
    }

    @Test func `are remembered for an hour, however many edits came between`() throws {
        func job(_ number: Int, at minute: Int) throws -> PublishedJob {
            let author = Provenance.Author(
                queue: "photos", job: "job-\(number)", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T0\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60):00Z")
            return try #require(PublishedJob(author, edit: "ee", version: "\(number)-\(number)"))
        }
        var jobs = PublishedJobs()
        for number in 1...200 { jobs = jobs.adding(try job(number, at: 0)) }
        for number in 1...200 {
            #expect(jobs.version(of: try job(number, at: 59)) == "\(number)-\(number)")
        }
        #expect(jobs.version(of: try job(201, at: 0)) == nil)
        // A provenance keeps them, and the lists of a draft and a version are merged.
        let encoded = try JSONEncoder().encode(jobs.earlier)
        #expect(encoded.count < 200 * 64)
        #expect(try JSONDecoder().decode([EarlierJob].self, from: encoded) == jobs.earlier)
        let merged = PublishedJobs(merging: [jobs, PublishedJobs().adding(try job(300, at: 1))])
        #expect(merged.listed.count == 32 && merged.listed.first?.job == "job-300")
        #expect(merged.version(of: try job(169, at: 0)) == "169-169")
        #expect(merged.versions.count == 201)
        // After an hour only the list is left.
        let late = jobs.adding(try job(201, at: 61))
        #expect(late.earlier.isEmpty && late.listed.count == 32)
        #expect(late.version(of: try job(199, at: 61)) == "199-199")
    }

    @Test func `have a bound`() throws {
        let author = Provenance.Author(
            queue: "photos", job: "j", generation: 1, attempt: 1, worker: "w",
            at: "2026-01-01T00:00:00Z")
        var jobs = PublishedJobs()
        for number in 1...EarlierJob.listedMax + 100 {
            let job = PublishedJob(author, edit: "\(number)", version: "\(number)-1")
            jobs = jobs.adding(try #require(job))
        }
        #expect(jobs.earlier.count == EarlierJob.listedMax)
        #expect(jobs.earlier.first?.version == "\(EarlierJob.listedMax + 68)-1")
    }

    @Test func `do not become another version because Redis names it wrongly`() async throws {
        let staged = try await f.seal(name(1), on: nil)
        let wrong = VersionName(revision: 7, fence: "1")
        #expect(try await f.library.publish(wrong, of: f.asset, from: staged) == .lost)
        #expect(try f.library.folder(of: f.asset).pointed(.versions) == nil)
    }
}
