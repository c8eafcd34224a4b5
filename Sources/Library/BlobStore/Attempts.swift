/// The reason why one attempt of a request failed.
enum AttemptFailure: Error {
    case transport(TransportFailure)
    case refused(S3Refusal)
    /// The caller's source or sink failed.
    case local(any Error)
    /// A complete answer that violates the protocol.
    case senseless(String)
    /// An error that is already final, from ``ConcurrencyGate`` or the source of credentials.
    case final(BlobError)
}

/// The attempts of one request, and the step after each failed one.
///
/// Each repair (region, clock, credentials, damaged bytes, a connection that the server had
/// closed) is tried once and costs nothing. All other repeats cost one of `triesMax` and tokens
/// of the ``RetryBudget``.
struct Attempts: Sendable {
    /// The next step.
    enum Step: Sendable, Hashable {
        case again(after: Duration)
        case move(region: String)
        case correctClock(BlobTime)
        case renewCredentials
        case fail(BlobError.Code)
    }

    private enum Mending: Hashable { case region, clock, credentials, bytes, connection }

    let triesMax: Int
    /// The code for status 412.
    let failedCondition: BlobError.Code
    /// Whether the answer to a repeat may be the result of its own first attempt.
    let isConditional: Bool

    /// The number of failed attempts that counted.
    private(set) var failures = 0

    /// Whether a failed attempt may have taken effect.
    private(set) var fateIsUnknown = false

    /// Whether the last step was chosen because the store asked for fewer requests.
    private(set) var isSlowDownAsked = false

    private var mended: Set<Mending> = []

    init(triesMax: Int, failedCondition: BlobError.Code, isConditional: Bool) {
        self.triesMax = triesMax
        self.failedCondition = failedCondition
        self.isConditional = isConditional
    }

    /// Decides the step after `failure`.
    ///
    /// - Parameters:
    ///   - signed: The time with which the attempt was signed.
    ///   - region: The region for which it was signed.
    ///   - random: A number from 0 up to 1, evenly distributed.
    mutating func next(
        after failure: AttemptFailure, signed: BlobTime, for region: String,
        budget: inout RetryBudget, random: Double
    ) -> Step {
        isSlowDownAsked = false
        let step = step(
            after: failure, signed: signed, for: region, budget: &budget, random: random)
        guard case .fail(let code) = step, isConditional, fateIsUnknown,
            code != .cancelled, code != .local
        else { return step }
        return .fail(.unknownFate)
    }

    private mutating func step(
        after failure: AttemptFailure, signed: BlobTime, for region: String,
        budget: inout RetryBudget, random: Double
    ) -> Step {
        switch failure {
        case .final(let error): return .fail(error.code)
        case .local: return .fail(.local)
        case .senseless: return .fail(.corrupt)
        case .transport(let failure):
            fateIsUnknown = fateIsUnknown || failure.mayHaveExecuted
            switch failure.kind {
            case .cancelled: return .fail(.cancelled)
            case .tls: return .fail(.misconfigured)
            case .malformed: return .fail(.corrupt)
            case .lost where mend(.connection): return .again(after: .zero)
            case .lost, .notConnected, .silent:
                return retry(
                    afterTimeout: failure.kind == .silent, slowDown: false, budget: &budget,
                    random: random)
            }
        case .refused(let refusal):
            fateIsUnknown = fateIsUnknown || refusal.mayHaveExecuted
            switch refusal.verdict(signed: signed, for: region) {
            case .fail(.precondition): return .fail(failedCondition)
            case .fail(.notFound) where isConditional: return .fail(.precondition)
            case .fail(let code): return .fail(code)
            case .move(let region):
                return mend(.region) ? .move(region: region) : .fail(.misconfigured)
            case .correctClock(let time):
                return mend(.clock) ? .correctClock(time) : .fail(.misconfigured)
            case .renewCredentials:
                return mend(.credentials) ? .renewCredentials : .fail(.denied)
            case .sendAgain: return mend(.bytes) ? .again(after: .zero) : .fail(.corrupt)
            case .retry(let slowDown):
                isSlowDownAsked = slowDown
                return retry(
                    afterTimeout: false, slowDown: slowDown, budget: &budget, random: random)
            }
        }
    }

    private mutating func mend(_ mending: Mending) -> Bool { mended.insert(mending).inserted }

    private mutating func retry(
        afterTimeout: Bool, slowDown: Bool, budget: inout RetryBudget, random: Double
    ) -> Step {
        failures += 1
        guard failures < triesMax, budget.pay(afterTimeout: afterTimeout) else {
            return .fail(slowDown ? .throttled : .unavailable)
        }
        return .again(
            after: Backoff.delay(failures: failures, slowDown: slowDown, random: random))
    }
}
