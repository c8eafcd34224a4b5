import Adjustments

/// What follows from a failed attempt: by the class of its error, another attempt or none.
///
/// | class | counts | then |
/// |---|---|---|
/// | permanent: the job or the photo is wrong | attempts | dead |
/// | the render child crashed, or is not believed | crashes | again; after the second alone; after the third dead |
/// | out of memory | attempts | again, alone in a worker; a second time alone: dead |
/// | anything else that may pass | attempts | again with growing delays, until the attempts are used up |
///
/// A worker that stops, loses Redis, or finds that the asset changed under the render does not come here:
/// such jobs are handed back and nothing is counted.
public struct RetryPolicy: Sendable {
    /// Attempts of one generation before a job is dead.
    public var attemptsMax = 5
    /// The longest delay before the second attempt; it doubles with each one after.
    public var base: Duration = .seconds(1)
    /// No delay is longer.
    public var cap: Duration = .seconds(300)

    /// What follows from a failed attempt.
    public struct Verdict: Sendable, Equatable {
        /// Which count goes up.
        public enum Count: String, Sendable { case attempts, crashes }

        /// What comes next.
        public enum Next: Sendable, Equatable {
            /// Try again after a delay, perhaps in quarantine: with nothing else in the same worker.
            case retry(after: Duration, alone: Bool)
            /// No more.
            case dead

            var delay: String {
                switch self {
                case .retry(let after, _): "\(after.milliseconds)"
                case .dead: "dead"
                }
            }

            var isAlone: Bool { if case .retry(_, true) = self { true } else { false } }
        }

        /// Which count goes up.
        public let counts: Count
        /// What comes next.
        public let next: Next
    }

    /// Default policy.
    public init() {}

    /// Decides.
    ///
    /// The delay is drawn evenly from 0 to the bound ("full jitter"), so that jobs that failed
    /// together do not come back together. Source: Marc Brooker, "Exponential Backoff And Jitter",
    /// AWS Architecture Blog, 2015.
    ///
    /// - Parameters:
    ///   - failure: why the attempt failed.
    ///   - claim: the hold under which it failed.
    ///   - random: an even draw from 0 to 1.
    func verdict(
        _ failure: Failure, after claim: Claim, _ settings: QueueSettings, random: Double
    ) -> Verdict {
        verdict(
            failure, attempts: claim.attempts + 1, crashes: claim.crashes + 1,
            isAlone: claim.isAlone, settings, random: random)
    }

    /// - Parameters:
    ///   - attempts: failed attempts so far, this one included if it counts as one.
    ///   - crashes: crashes so far, likewise.
    func verdict(
        _ failure: Failure, attempts: Int, crashes: Int, isAlone: Bool, _ settings: QueueSettings,
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
                        alone: crashes >= settings.crashesToQuarantine))
        case .outOfMemory where isAlone: return Verdict(counts: .attempts, next: .dead)
        default:
            return Verdict(
                counts: .attempts,
                next: attempts >= attemptsMax
                    ? .dead
                    : .retry(
                        after: delay(attempts, random), alone: failure.code == .outOfMemory))
        }
    }

    /// How long to wait after so many failures.
    func delay(_ failures: Int, _ random: Double) -> Duration {
        // 2^20 seconds are beyond any cap; the bound keeps the factor finite.
        let factor = Double(1 << min(max(failures - 1, 0), 20))
        return min(cap, base * factor) * random
    }
}
