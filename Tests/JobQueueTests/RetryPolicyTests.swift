import Adjustments
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

    @Test func `the delay is drawn evenly from nothing to the bound`() {
        let delays = [0, 0.25, 1].map { next(.ioFailure, attempts: 3, random: $0).next }
        #expect(delays == [0, 1, 4].map { .retry(after: .seconds($0), quarantined: false) })
    }

    @Test func `after the last attempt a job is dead`() {
        #expect(next(.ioFailure, attempts: 5, random: 0).next == .dead)
    }
}
