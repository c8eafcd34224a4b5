import Edits

/// The consequence of a failed attempt: the class of its error decides whether another attempt follows.
///
/// | class | counts | then |
/// |---|---|---|
/// | permanent: the job or the photo is wrong | attempts | dead |
/// | the render child crashed, or its reply is not trusted | crashes | retry; second: in quarantine; third: dead |
/// | out of memory | attempts | retry in quarantine; out of memory again in quarantine: left to a worker with more memory, dead if none lives |
/// | any other transient failure | attempts | retry with growing delays, until the attempts are used up |
///
/// The policy does not apply to a worker that stops, loses Redis, or finds that the asset changed during the render: it
/// releases the job, and nothing is counted.
public struct RetryPolicy: Sendable {
    /// The number of attempts of one generation before a job is dead.
    public var attemptsMax = 5
    /// The longest delay before the second attempt; it doubles with each later attempt.
    public var base: Duration = .seconds(1)
    /// The maximum delay.
    public var cap: Duration = .seconds(300)

    /// The consequence of a failed attempt.
    public struct Verdict: Sendable, Equatable {
        /// The count that is incremented.
        public enum Count: String, Sendable { case attempts, crashes }

        /// The next state of the job.
        public enum Next: Sendable, Equatable {
            /// Another attempt after a delay, possibly in quarantine: the worker then runs no other job.
            case retry(after: Duration, quarantined: Bool)
            case dead

            var delay: String {
                switch self {
                case .retry(let after, _): "\(after.milliseconds)"
                case .dead: "dead"
                }
            }

            var isQuarantined: Bool { if case .retry(_, true) = self { true } else { false } }
        }

        /// The count that is incremented.
        public let counts: Count
        /// The next state of the job.
        public let next: Next
    }

    public init() {}

    /// Returns the consequence of a failure.
    ///
    /// The delay is drawn uniformly from 0 to the bound ("full jitter"), so that jobs that failed together do not return
    /// together. Source: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    ///
    /// - Parameters:
    ///   - failure: The failure of the attempt.
    ///   - claim: The hold under which it failed.
    ///   - random: A uniform random number from 0 to 1.
    func verdict(
        _ failure: Failure, after claim: Claim, _ settings: QueueSettings, random: Double
    ) -> Verdict {
        verdict(
            failure, attempts: claim.attempts + 1, crashes: claim.crashes + 1,
            isQuarantined: claim.isQuarantined, settings, random: random)
    }

    /// - Parameters:
    ///   - attempts: The failed attempts so far, including this one if it counts as one.
    ///   - crashes: The crashes so far, likewise.
    func verdict(
        _ failure: Failure, attempts: Int, crashes: Int, isQuarantined: Bool,
        _ settings: QueueSettings,
        random: Double
    ) -> Verdict {
        if failure.code.isPermanent { return Verdict(counts: .attempts, next: .dead) }
        switch failure.code {
        case .renderCrashed, .untrustedRender:
            return Verdict(
                counts: .crashes,
                next: crashes >= settings.crashesMax
                    ? .dead
                    : .retry(
                        after: delay(crashes, random),
                        quarantined: crashes >= settings.crashesToQuarantine))
        case .outOfMemory where isQuarantined: return Verdict(counts: .attempts, next: .dead)
        default:
            return Verdict(
                counts: .attempts,
                next: attempts >= attemptsMax
                    ? .dead
                    : .retry(
                        after: delay(attempts, random), quarantined: failure.code == .outOfMemory))
        }
    }

    /// Returns the delay after a number of failures.
    func delay(_ failures: Int, _ random: Double) -> Duration {
        // 2^20 seconds exceed any cap; the bound keeps the factor finite.
        let factor = Double(1 << min(max(failures - 1, 0), 20))
        return min(cap, base * factor) * random
    }
}
