import Edits
import Files
import JobQueue
import Library
import Synchronization
import Testing

@testable import Worker

@Suite("Job runner") struct JobRunnerTests {
    @Test func `a version is committed before it is published and finalized after`() async throws {
        let f = try await RunnerFixture()
        let state = Mutex<JobState?>(nil)
        let handler = FakeHandler(publish: { _ throws(Failure) in
            do {
                let record = try await f.queue.record(of: "a")
                state.withLock { $0 = record?.state }
            } catch {
                throw Failure(.internalError, "\(error)")
            }
            return .published
        })
        let ends = Ends()
        let claim = try await f.claim("a")
        await f.runner(handler, metrics: ends.metrics).run(claim, HeldJob())
        #expect(state.withLock { $0 } == .committing)
        #expect(try await f.record("a").state == .done)
        #expect(try await f.events() == ["completed"])
        #expect(ends.all == ["published"])
        let version = CommittedVersion("1-\(claim.fence)", of: claim)
        #expect(handler.seen == [.made("a"), .published(version)])
        #expect(version.madeBy == Hold(job: "a", fence: claim.fence))
    }

    @Test func `a generation that was published before is finalized`() async throws {
        let f = try await RunnerFixture()
        let handler = FakeHandler(publish: { _ throws(Failure) in .alreadyPublished })
        await f.runner(handler).run(try await f.claim("a"), HeldJob())
        #expect(try await f.record("a").state == .done)
        #expect(try await f.events() == ["completed"])
    }

    @Test func `what is carried on is published under the new fence and the first one's name`()
        async throws
    {
        let f = try await RunnerFixture { $0.lease = .zero }
        let claim = try await f.claim("a")
        _ = try await f.queue.commit(claim, .made(claim), isDraft: false)
        let carried = try #require(try await f.queue.reap(by: "heir").carried.first)
        let handler = FakeHandler()
        await f.runner(handler).carryOn(carried, HeldJob())
        let version = carried.version
        #expect(handler.seen == [.published(version)])
        #expect(version.name == "1-\(claim.fence)" && version.asset == "a")
        #expect(version.madeBy.fence == claim.fence && version.fence != claim.fence)
        #expect(try await f.record("a").state == .done)
    }

    @Test func `a version that is outdated is discarded and its job made again`() async throws {
        let f = try await RunnerFixture()
        let handler = FakeHandler(publish: { _ throws(Failure) in .lost })
        let claim = try await f.claim("a")
        await f.runner(handler).run(claim, HeldJob())
        #expect(handler.seen.last == .discarded(Hold(job: "a", fence: claim.fence)))
        #expect(try await f.record("a").state == .ready)
        #expect(try await f.queue.claim(by: "w", count: 1).jobs.first?.rebases == 1)
    }

    @Test func `a job whose asset always changes fails and is not made once more`() async throws {
        let f = try await RunnerFixture { $0.rebasesMax = 0 }
        let handler = FakeHandler(publish: { _ throws(Failure) in .lost })
        await f.runner(handler).run(try await f.claim("a"), HeldJob())
        let again = try #require(try await f.queue.claim(by: "w", count: 1).jobs.first)
        await f.runner(handler).run(again, HeldJob())
        #expect(try await f.record("a").code == .revisionConflict)
        #expect(handler.seen.filter { $0 == .made("a") }.count == 1)
    }

    @Test func `a job that found nothing to do is concluded and what it staged discarded`()
        async throws
    {
        let f = try await RunnerFixture()
        let handler = FakeHandler(make: { _ in
            .nothing(.init(mode: .replace, version: nil, reason: "nothing"))
        })
        let claim = try await f.claim("a")
        await f.runner(handler).run(claim, HeldJob())
        #expect(try await f.events() == ["unchanged"])
        #expect(handler.seen.last == .discarded(Hold(job: "a", fence: claim.fence)))
    }

    @Test func `a job that a newer edit superseded is done, and tells by which`() async throws {
        let f = try await RunnerFixture()
        let handler = FakeHandler(make: { _ in
            .superseded(
                .init(
                    mode: .replace, version: .init(id: "2-7", revision: 2, at: .init(path: "p")),
                    by: "b", reason: "b arrived later"))
        })
        let ends = Ends()
        let claim = try await f.claim("a")
        await f.runner(handler, metrics: ends.metrics).run(claim, HeldJob())
        #expect(try await f.events() == ["superseded"])
        #expect(ends.all == ["superseded"])
        #expect(handler.seen.last == .discarded(Hold(job: "a", fence: claim.fence)))
        guard case .superseded(let told)? = try await f.queue.outcome(of: "a") else {
            Issue.record("it has another outcome")
            return
        }
        #expect(told.by == "b" && told.version.id == "2-7")
        #expect(try await f.queue.status().counters["superseded"] == 1)
    }

    @Test func `a failure to make it ends the attempt and discards what was staged`() async throws {
        let f = try await RunnerFixture()
        let handler = FakeHandler(make: { _ in throw Failure(.missingAsset, "a is not there.") })
        let ends = Ends()
        let claim = try await f.claim("a")
        await f.runner(handler, metrics: ends.metrics).run(claim, HeldJob())
        #expect(try await f.record("a").state == .dead)
        #expect(ends.all == ["failed missingAsset"])
        #expect(
            handler.seen == [.made("a"), .discarded(Hold(job: "a", fence: claim.fence))])
    }

    @Test func `renditions end a job without a publication`() async throws {
        let f = try await RunnerFixture()
        let event = JobEvent.MadeRenditions(
            mode: .renditions,
            version: JobEvent.Version(id: "1-1", revision: 1, at: JobEvent.Place(path: "p")),
            renditions: [
                "web": .made(
                    JobEvent.MadeRendition(
                        Joined(
                            JobEvent.Place(path: "edits/a/sizes/1-1/web.avif"),
                            MadeFile(
                                mediaType: "image/avif", size: PixelSize(width: 2, height: 1),
                                bytes: 3, sha256: String(repeating: "0", count: 64))),
                        JobEvent.Encoding(quality: 0.5, encodes: 1, hash: nil))),
                "print": .failed(JobEvent.RenditionError(Failure(.formatUnavailable, "no heic"))),
            ])
        let handler = FakeHandler(make: { _ in .rendered(event) })
        let claim = try await f.claim("a")
        await f.runner(handler).run(claim, HeldJob())
        #expect(try await f.events() == ["rendered"])
        #expect(
            handler.seen == [.made("a"), .discarded(Hold(job: "a", fence: claim.fence))])
        guard case .rendered(let told)? = try await f.queue.outcome(of: "a") else {
            throw Failure(.internalError, "the outcome is another one")
        }
        #expect(told.more == event)
        #expect(try await f.queue.conclude(claim, event) == .held)
        #expect(try await f.events() == ["rendered"])
    }

    @Test func `renditions that the library has are told, also where the job is cancelled then`()
        async throws
    {
        let f = try await RunnerFixture()
        let event = JobEvent.MadeRenditions(
            mode: .renditions,
            version: JobEvent.Version(id: "1-1", revision: 1, at: JobEvent.Place(path: "p")),
            renditions: ["web": .failed(JobEvent.RenditionError(Failure(.formatUnavailable, "no")))]
        )
        let hold = HeldJob()
        let handler = FakeHandler(make: { claim in
            try await toItsEnd {
                _ = try await f.queue.cancel([claim.job], reason: "no more")
                hold.end(.cancelled)
                return .rendered(event)
            }
        })
        await f.runner(handler).run(try await f.claim("a"), hold)
        #expect(try await f.events() == ["rendered"])
    }

    @Test func `a job that is cancelled before its commit is never published`() async throws {
        let f = try await RunnerFixture()
        let handler = FakeHandler(make: { claim in
            _ = try await f.queue.cancel([claim.job], reason: "no more")
            return .version(.made(claim), isDraft: false)
        })
        let claim = try await f.claim("a")
        await f.runner(handler).run(claim, HeldJob())
        #expect(try await f.events() == ["cancelled"])
        #expect(
            handler.seen == [.made("a"), .discarded(Hold(job: "a", fence: claim.fence))])
    }

    @Test func `a worker that came too late publishes nothing and says that it lost the job`()
        async throws
    {
        let f = try await RunnerFixture { $0.lease = .zero }
        let handler = FakeHandler(make: { claim in
            _ = try await f.queue.reap(by: "other")
            _ = try await f.queue.claim(by: "other", count: 1)
            return .version(.made(claim), isDraft: false)
        })
        let ends = Ends()
        await f.runner(handler, metrics: ends.metrics).run(try await f.claim("a"), HeldJob())
        #expect(ends.all == ["lost"])
        #expect(!handler.seen.contains { if case .published = $0 { true } else { false } })
    }

    @Test func `a job whose worker stops is handed back and nothing is counted`() async throws {
        let f = try await RunnerFixture()
        let hold = HeldJob()
        let handler = FakeHandler(make: { _ in
            hold.stop()
            try await Task.sleep(for: .seconds(3600))
            throw CancellationError()
        })
        await f.runner(handler).run(try await f.claim("a"), hold)
        let record = try await f.record("a")
        #expect(record.state == .ready && record.attempts == 0 && record.crashes == 0)
    }

    @Test func `a sweep keeps what a hold makes or the queue will publish and discards the rest`()
        async throws
    {
        let f = try await RunnerFixture { $0.lease = .zero }
        let committing = try await f.claim("committing")
        _ = try await f.queue.commit(committing, .made(committing), isDraft: false)
        // Its version keeps the fence under which it was made, whoever carries it on.
        _ = try await f.queue.reap(by: "heir")
        let active = try await f.claim("active")
        let wanted = [
            Hold(job: "active", fence: active.fence),
            Hold(job: "committing", fence: committing.fence),
        ]
        let unwanted = [
            Hold(job: "active", fence: "7"), Hold(job: "nobody", fence: "8"),
        ]
        let handler = FakeHandler(staged: wanted + unwanted)
        await f.runner(handler).sweep()
        #expect(handler.seen == unwanted.map { .swept($0) })
    }
}
