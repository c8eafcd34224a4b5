import Edits
import Testing

@testable import BlobStore

@Suite("Repeats") struct PolicyTests {
    private static let now = BlobTime(seconds: 1_000_000)

    private static func attempts(conditional: Bool = false) -> Attempts {
        Attempts(triesMax: 5, failedCondition: .precondition, isConditional: conditional)
    }

    private static func refusal(_ status: Int, _ code: String? = nil) -> AttemptFailure {
        var refusal = S3Refusal(status: status)
        refusal.code = code
        return .refused(refusal)
    }

    private static func steps(
        _ failures: [AttemptFailure], conditional: Bool = false
    ) -> [Attempts.Step] {
        var attempts = attempts(conditional: conditional)
        var budget = RetryBudget()
        return failures.map {
            attempts.next(after: $0, signed: now, for: "us-east-1", budget: &budget, random: 0.5)
        }
    }

    @Test func `an outage is tried five times, with waits that double`() {
        let steps = Self.steps(Array(repeating: Self.refusal(500), count: 5))
        #expect(
            steps == [
                .again(after: .milliseconds(25)), .again(after: .milliseconds(50)),
                .again(after: .milliseconds(100)), .again(after: .milliseconds(200)),
                .fail(.unavailable),
            ])
    }

    @Test func `a store that asks to slow down is given ten times as long`() {
        let steps = Self.steps(Array(repeating: Self.refusal(503, "SlowDown"), count: 5))
        #expect(steps.first == .again(after: .milliseconds(250)))
        #expect(steps.last == .fail(.throttled))
    }

    @Test func `no wait is longer than the longest`() {
        for failures in [8, 60, .max] {
            #expect(
                Backoff.slowDown.delay(failures: failures, random: 1) == Backoff.slowDown.max)
        }
    }

    @Test func `a connection that was closed meanwhile costs nothing, once`() {
        let lost = AttemptFailure.transport(TransportFailure(.lost, ""))
        #expect(
            Self.steps([lost, lost]) == [.again(after: .zero), .again(after: .milliseconds(25))])
    }

    @Test(arguments: [
        (403, "AccessDenied", BlobErrorCode.denied), (404, "NoSuchKey", .notFound),
        (404, "NoSuchBucket", .misconfigured), (412, "PreconditionFailed", .precondition),
        (501, "NotImplemented", .misconfigured), (400, "InvalidRequest", .misconfigured),
        (416, "InvalidRange", .invalid), (507, "InsufficientStorage", .full),
        (403, "QuotaExceeded", .full), (403, "AccessDenied", .denied),
        (405, "MethodNotAllowed", .misconfigured), (401, "Unauthorized", .denied),
    ]) func `what will be the same again is not repeated`(
        status: Int, code: String, expected: BlobErrorCode
    ) {
        #expect(Self.steps([Self.refusal(status, code)]) == [.fail(expected)])
    }

    @Test(arguments: [
        (408, nil as String?), (429, nil), (500, "InternalError"), (502, nil), (504, nil),
        (503, "ServiceUnavailable"), (400, "RequestTimeout"),
        (409, "ConditionalRequestConflict"), (409, "OperationAborted"),
    ]) func `what may pass is repeated`(status: Int, code: String?) {
        guard case .again = Self.steps([Self.refusal(status, code)])[0] else {
            Issue.record("\(status) \(code ?? "") ended the request")
            return
        }
    }

    @Test func `each mending is tried once`() {
        var skewed = S3Refusal(status: 403)
        skewed.code = "RequestTimeTooSkewed"
        skewed.date = BlobTime(seconds: 1_001_200)
        #expect(
            Self.steps([.refused(skewed), .refused(skewed)])
                == [.correctClock(BlobTime(seconds: 1_001_200)), .fail(.misconfigured)])
        let expired = Self.refusal(400, "ExpiredToken")
        #expect(Self.steps([expired, expired]) == [.renewCredentials, .fail(.denied)])
        let harmed = Self.refusal(400, "BadDigest")
        #expect(Self.steps([harmed, harmed]) == [.again(after: .zero), .fail(.corrupt)])
        var moved = S3Refusal(status: 301)
        moved.region = "eu-west-1"
        #expect(
            Self.steps([.refused(moved), .refused(moved)])
                == [.move(region: "eu-west-1"), .fail(.misconfigured)])
    }

    @Test func `HEAD's bare 403 is about the clock if the clocks differ`() {
        var refusal = S3Refusal(status: 403)
        refusal.date = BlobTime(seconds: Self.now.seconds - 901)
        #expect(Self.steps([.refused(refusal)]) == [.correctClock(refusal.date!)])
        refusal.date = BlobTime(seconds: Self.now.seconds - 900)
        #expect(Self.steps([.refused(refusal)]) == [.fail(.denied)])
    }

    @Test func `HEAD's bare 400 is about the region if another is reported, else about the token`()
    {
        var refusal = S3Refusal(status: 400)
        refusal.region = "us-east-1"
        #expect(Self.steps([.refused(refusal)]) == [.renewCredentials])
        refusal.region = "eu-west-1"
        #expect(Self.steps([.refused(refusal)]) == [.move(region: "eu-west-1")])
    }

    @Test func `a condition that fails after a lost answer says nothing of its first attempt`() {
        let failed = Self.refusal(412, "PreconditionFailed")
        for first in [
            AttemptFailure.transport(TransportFailure(.lost, "")),
            .transport(TransportFailure(.silent, "")), Self.refusal(500),
        ] {
            #expect(Self.steps([first, failed], conditional: true).last == .fail(.unknownFate))
            #expect(Self.steps([first, failed]).last == .fail(.precondition))
        }
        for first in [
            AttemptFailure.transport(TransportFailure(.notConnected, "")),
            Self.refusal(503, "SlowDown"), Self.refusal(409, "ConditionalRequestConflict"),
        ] {
            #expect(Self.steps([first, failed], conditional: true).last == .fail(.precondition))
        }
    }

    @Test func `If-Match on no object is a condition that fails`() {
        let steps = Self.steps([Self.refusal(404, "NoSuchKey")], conditional: true)
        #expect(steps == [.fail(.precondition)])
    }

    @Test func `an empty budget ends repeats, and successes fill it`() {
        var budget = RetryBudget()
        var paid = 0
        while budget.pay(afterTimeout: false) { paid += 1 }
        #expect(paid == 100)
        var attempts = Self.attempts()
        let step = attempts.next(
            after: Self.refusal(500), signed: Self.now, for: "us-east-1", budget: &budget, random: 0
        )
        #expect(step == .fail(.unavailable))
        for _ in 0..<5 { budget.succeeded() }
        let paysForTimeout = budget.pay(afterTimeout: true)
        let paysForRetry = budget.pay(afterTimeout: false)
        #expect(!paysForTimeout && paysForRetry)
        for _ in 0..<1_000 { budget.succeeded() }
        #expect(budget.tokens == RetryBudget.tokensMax)
    }

    @Test func `concurrency is halved once a burst and comes back one by one`() {
        var concurrency = AdaptiveConcurrency(max: 64)
        concurrency.slowDown(in: 0)
        concurrency.slowDown(in: 0)
        #expect(concurrency.limit == 32)
        for generation in 1...10 { concurrency.slowDown(in: generation) }
        #expect(concurrency.limit == 1)
        for _ in 0..<100 { concurrency.succeeded() }
        #expect(concurrency.limit == 2)
        for _ in 0..<10_000 { concurrency.succeeded() }
        #expect(concurrency.limit == 64)
    }

    @Test func `only a transfer that is slow for long is too slow`() {
        var floor = RateFloor()
        let early = floor.isBroken(byPieceOf: 1, after: .milliseconds(9_999))
        let slow = floor.isBroken(byPieceOf: 1, after: .milliseconds(1))
        let fast = floor.isBroken(byPieceOf: 640 << 10, after: .seconds(10))
        #expect(!early && slow && !fast)
    }

    @Test func `parts are as large as S3 wants and as many as it allows`() {
        let small = MultipartPlan(size: 17 << 20, partBytes: 1)
        #expect(small.parts.map(\.count) == [5 << 20, 5 << 20, 5 << 20, 2 << 20])
        let huge = MultipartPlan(size: 5 << 40, partBytes: 8 << 20)
        #expect(huge.parts.count <= MultipartPlan.partsMax)
        #expect(huge.parts.last?.upperBound == 5 << 40)
        #expect(huge.parts.allSatisfy { $0.count <= 5 << 30 })
    }
}
