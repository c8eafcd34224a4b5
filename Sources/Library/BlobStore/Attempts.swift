import Edits

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
    enum Step: Sendable, Hashable {
        case again(after: Duration)
        case move(region: String)
        case correctClock(BlobTime)
        case renewCredentials
        case fail(BlobErrorCode)
    }

    private enum Mending: Hashable { case region, clock, credentials, bytes, connection }

    let triesMax: Int
    /// The code for status 412.
    let failedCondition: BlobErrorCode
    /// Whether the answer to a repeat may be the result of its own first attempt.
    let isConditional: Bool

    /// The number of failed attempts that counted.
    private(set) var failures = 0

    /// Whether a failed attempt may have taken effect.
    private(set) var fateIsUnknown = false

    /// Whether the last step was chosen because the store asked for fewer requests.
    private(set) var isSlowDownAsked = false

    private var mended: Set<Mending> = []

    init(triesMax: Int, failedCondition: BlobErrorCode, isConditional: Bool) {
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
            after: (slowDown ? Backoff.slowDown : .usual)
                .delay(failures: failures - 1, random: random))
    }
}

/// The tokens that a client may spend on repeating requests, so that retries do not overload a
/// failing store.
///
/// Repeats cost tokens and successes earn them. If one in six requests must be repeated, the
/// budget shrinks. Numbers: AWS' standard retry mode, `token_bucket.rs` of smithy-rs 1.9.
struct RetryBudget: Sendable, Hashable {
    /// The most tokens, and the initial number.
    static let tokensMax = 500
    /// The price of a repeat after an error answer or a lost connection.
    static let retryCost = 5
    /// The price of a repeat after a timeout.
    static let timeoutCost = 10
    static let successGain = 1

    private(set) var tokens = tokensMax

    /// Spends the tokens of a repeat. Returns false, and spends nothing, if there are not enough.
    mutating func pay(afterTimeout: Bool) -> Bool {
        let cost = afterTimeout ? Self.timeoutCost : Self.retryCost
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    mutating func succeeded() {
        tokens = min(Self.tokensMax, tokens + Self.successGain)
    }
}

extension Backoff {
    /// The waits before repeats.
    static let usual = Backoff(base: .milliseconds(50), max: .seconds(5))
    /// The waits after the store asked for fewer requests.
    static let slowDown = Backoff(base: .milliseconds(500), max: .seconds(5))
}

/// The policy for a second request beside a small GET that takes unusually long.
///
/// A store answers a few requests in a hundred much later than the others, and a second request
/// is rarely late as well. Source: Dean and Barroso, "The Tail at Scale", 2013.
struct HedgePolicy: Sendable {
    /// The shortest wait before the second request.
    static let delayMin = Duration.milliseconds(300)
    /// The number of GETs from which the usual time is computed.
    static let samplesMax = 128
    /// The fewest GETs from which it can be computed.
    static let samplesMin = 20
    /// The number of GETs that earn one second request, which limits the overhead to 5 %.
    static let getsPerHedge = 20
    /// The most second requests in immediate succession.
    static let hedgesMax = 5

    private var samples: [Duration] = []
    private var next = 0
    private var tokens = 0

    /// The wait before the second request; nil while the usual time is unknown.
    var delay: Duration? {
        guard samples.count >= Self.samplesMin else { return nil }
        return max(Self.delayMin, samples.sorted()[samples.count * 95 / 100])
    }

    mutating func succeeded(after time: Duration) {
        tokens = min(Self.getsPerHedge * Self.hedgesMax, tokens + 1)
        if samples.count < Self.samplesMax {
            samples.append(time)
        } else {
            samples[next] = time
            next = (next + 1) % Self.samplesMax
        }
    }

    /// Spends the tokens of a second request. Returns false if there are not enough.
    mutating func pay() -> Bool {
        guard tokens >= Self.getsPerHedge else { return false }
        tokens -= Self.getsPerHedge
        return true
    }
}
