import Adjustments
import Testing

@testable import JobQueue

@Suite("Retry policy") struct RetryPolicyTests {
    private let policy = RetryPolicy()

    @Test(arguments: FailureCode.allCases)
    func `a failure is retried unless it is permanent`(code: FailureCode) {
        let verdict = policy.verdict(Failure(code, ""), attempts: 1, random: 1)
        #expect(verdict == (code.isPermanent ? .dead : .retry(after: .seconds(1))))
    }

    @Test func `the bound doubles with each attempt and ends at the cap`() {
        var policy = policy
        policy.attemptsMax = 100
        let bounds = [1, 2, 4, 9, 10, 60].map {
            policy.verdict(Failure(.ioFailure, ""), attempts: $0, random: 1)
        }
        #expect(
            bounds
                == [1, 2, 8, 256, 300, 300].map { RetryPolicy.Verdict.retry(after: .seconds($0)) })
    }

    @Test func `the delay is drawn evenly from nothing to the bound`() {
        let verdicts = [0, 0.25, 1].map {
            policy.verdict(Failure(.ioFailure, ""), attempts: 3, random: $0)
        }
        #expect(
            verdicts == [
                .retry(after: .zero), .retry(after: .seconds(1)), .retry(after: .seconds(4)),
            ])
    }

    @Test func `after the last attempt a job is dead`() {
        #expect(policy.verdict(Failure(.ioFailure, ""), attempts: 5, random: 0) == .dead)
    }
}
