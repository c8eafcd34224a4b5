/// Why one attempt of a request came to nothing.
enum AttemptFailure: Error {
    case transport(TransportFailure)
    case refused(S3Refusal)
    /// The caller's source or sink.
    case local(any Error)
    /// An answer that is whole but not what the protocol says.
    case senseless(String)
    /// Decided already, as by ``ConcurrencyGate`` or the credentials' source.
    case final(BlobError)
}

/// The attempts of one request: what is done after each that failed.
///
/// Each mending (region, clock, credentials, harmed bytes, a connection that the server had closed) is
/// tried once and costs nothing; all else costs one of `triesMax` and tokens of the ``RetryBudget``.
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
    /// The code that status 412 comes to.
    let failedCondition: BlobError.Code
    /// Whether a repeat may be answered by its own first attempt.
    let isConditional: Bool

    /// How many attempts failed and were paid for.
    private(set) var failures = 0

    /// Whether an attempt that failed may have done what was asked.
    private(set) var fateIsUnknown = false

    /// Whether the last step was taken because the store asked for fewer requests.
    private(set) var toldToSlowDown = false

    private var mended: Set<Mending> = []

    init(triesMax: Int, failedCondition: BlobError.Code, isConditional: Bool) {
        self.triesMax = triesMax
        self.failedCondition = failedCondition
        self.isConditional = isConditional
    }

    /// Decides what to do after `failure`.
    ///
    /// - Parameters:
    ///   - signed: The moment that the attempt was signed with.
    ///   - region: The region that it was signed for.
    ///   - random: A number from 0 up to 1, evenly distributed.
    mutating func next(
        after failure: AttemptFailure, signed: BlobTime, for region: String,
        budget: inout RetryBudget, random: Double
    ) -> Step {
        toldToSlowDown = false
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
                toldToSlowDown = slowDown
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
