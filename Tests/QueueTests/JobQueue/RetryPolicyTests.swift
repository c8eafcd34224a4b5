import Edits
import Testing

@testable import JobQueue

@Suite("Retry policy") struct RetryPolicyTests {
    private let policy = RetryPolicy()

    private func next(
        _ code: FailureCode, attempts: Int = 1, crashes: Int = 1, isQuarantined: Bool = false,
        random: Double = 1, _ policy: RetryPolicy = RetryPolicy()
    ) -> RetryPolicy.Verdict {
        policy.verdict(
            Failure(code, ""), attempts: attempts, crashes: crashes, isQuarantined: isQuarantined,
            QueueSettings(), random: random)
    }

    @Test(arguments: FailureCode.allCases)
    func `a failure is retried unless it is permanent`(code: FailureCode) {
        let isDead = next(code).next == .dead
        #expect(isDead == code.isPermanent)
    }

    @Test(arguments: FailureCode.allCases)
    func `only a crash of the render, or one that is not believed, counts as a crash`(
        code: FailureCode
    ) {
        #expect(
            next(code).counts
                == ([.renderCrashed, .untrustedRender].contains(code) ? .crashes : .attempts))
    }

    @Test func `the second crash leads to quarantine and the third to death`() {
        #expect(next(.renderCrashed).next == .retry(after: .seconds(1), quarantined: false))
        #expect(
            next(.renderCrashed, crashes: 2).next == .retry(after: .seconds(2), quarantined: true))
        #expect(next(.renderCrashed, crashes: 3, isQuarantined: true).next == .dead)
    }

    @Test func `who ran out of memory gets all of a worker's, and then no more`() {
        #expect(next(.outOfMemory).next == .retry(after: .seconds(1), quarantined: true))
        #expect(next(.outOfMemory, attempts: 2, isQuarantined: true).next == .dead)
    }

    @Test func `the bound doubles with each attempt and ends at the cap`() {
        var policy = policy
        policy.attemptsMax = 100
        let bounds = [1, 2, 4, 9, 10, 60].map { next(.ioFailure, attempts: $0, policy).next }
        #expect(
            bounds
                == [1, 2, 8, 256, 300, 300].map { .retry(after: .seconds($0), quarantined: false) })
    }

    @Test func `a delay without a cap stops doubling after the 21st failure`() {
        var policy = policy
        policy.cap = .seconds(1 << 40)
        #expect(
            [20, 21, 22, 1000].map { policy.delay($0, 1) }
                == [19, 20, 20, 20].map { .seconds(1 << $0) })
        #expect(policy.delay(0, 1) == policy.delay(1, 1))
    }

    @Test func `the delay is drawn evenly from nothing to the bound`() {
        let delays = [0, 0.25, 1].map { next(.ioFailure, attempts: 3, random: $0).next }
        #expect(delays == [0, 1, 4].map { .retry(after: .seconds($0), quarantined: false) })
    }

    @Test func `after the last attempt a job is dead`() {
        #expect(next(.ioFailure, attempts: 4, random: 0).next != .dead)
        #expect(next(.ioFailure, attempts: 5, random: 0).next == .dead)
    }

    @Test func `only a retry in quarantine is one`() {
        #expect(next(.outOfMemory).next.isQuarantined)
        #expect(!next(.ioFailure).next.isQuarantined)
        #expect(!next(.ioFailure, attempts: 5).next.isQuarantined)
    }

    @Test func `a failure counts after those of its claim`() {
        let claim = Claim(
            job: "j", fence: "1", worker: "w", asset: "a", edit: "{}", generation: 1, attempts: 3,
            crashes: 1, rebases: 0, queued: .zero, batch: nil, tenant: "t", isQuarantined: false,
            arrival: 0,
            parent: nil)
        func next(_ code: FailureCode) -> RetryPolicy.Verdict.Next {
            policy.verdict(Failure(code, ""), after: claim, QueueSettings(), random: 1).next
        }
        #expect(next(.ioFailure) == .retry(after: .seconds(8), quarantined: false))
        #expect(next(.renderCrashed) == .retry(after: .seconds(2), quarantined: true))
    }
}
