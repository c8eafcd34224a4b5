import Edits
import JobQueue
import Testing

@testable import Worker

@Suite("Job runner when publishing fails") struct FailedPublicationTests {
    private static let noDisk = Failure(.ioFailure, "the disk is gone.")

    private func fixture(carriesMax: Int) async throws -> RunnerFixture {
        try await RunnerFixture {
            $0.carriesMax = carriesMax
            $0.retry.base = .zero
        }
    }

    @Test func `another worker publishes at once what the first one could not`() async throws {
        let f = try await fixture(carriesMax: 5)
        let ends = Ends()
        let failing = FakeHandler(publish: { _ throws(Failure) in throw Self.noDisk })
        let claim = try await f.claim("a")
        await f.runner(failing, metrics: ends.metrics).run(claim, HeldJob())
        #expect(ends.all == ["failed ioFailure"])
        // The lease is the usual one of 30 s, and nobody waits for it.
        let carried = try #require(try await f.queue.reap(by: "heir").carried.first)
        let handler = FakeHandler()
        await f.runner(handler).carryOn(carried, HeldJob())
        #expect(try await f.record("a").state == .done)
        #expect(try await f.events() == ["completed"])
        #expect(!failing.seen.contains { if case .discarded = $0 { true } else { false } })
    }

    @Test func `what can never be published is tried as often as is allowed and then stuck`()
        async throws
    {
        let f = try await fixture(carriesMax: 3)
        let handler = FakeHandler(publish: { _ throws(Failure) in throw Self.noDisk })
        let runner = f.runner(handler)
        await runner.run(try await f.claim("a"), HeldJob())
        while let carried = try await f.queue.reap(by: "w").carried.first {
            await runner.carryOn(carried, HeldJob())
        }
        let tries = handler.seen.count { if case .published = $0 { true } else { false } }
        #expect(tries == 1 + 3)
        let record = try await f.record("a")
        #expect(record.state == .stuck && record.code == .ioFailure)
        // What is stuck can still be published, so what is staged for it stays.
        let fence = try #require(record.version?.split(separator: "-").last)
        let staged = FakeHandler(staged: [Hold(job: "a", fence: String(fence))])
        await f.runner(staged).sweep()
        #expect(staged.seen == [])
    }

    @Test func `a version with a name that cannot be one does not stay for ever`() async throws {
        let f = try await fixture(carriesMax: 0)
        let handler = FakeHandler(
            make: { claim in
                .version(.made(claim), isDraft: false)
            },
            publish: { _ throws(Failure) in throw Failure(.internalError, "no name of a version.") }
        )
        await f.runner(handler).run(try await f.claim("a"), HeldJob())
        #expect(try await f.record("a").state == .stuck)
    }
}
