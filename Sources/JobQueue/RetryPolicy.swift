public import Adjustments

/// When a failed attempt is repeated, and when the job is dead.
public struct RetryPolicy: Sendable {
    /// Attempts of one generation before a job is dead.
    public var attemptsMax = 5
    /// The longest delay before the second attempt; it doubles with each one after.
    public var base: Duration = .seconds(1)
    /// No delay is longer.
    public var cap: Duration = .seconds(300)

    /// What follows from a failed attempt.
    public enum Verdict: Sendable, Equatable {
        /// Try again after a delay.
        case retry(after: Duration)
        /// No more.
        case dead
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
    ///   - attempts: failed attempts so far, this one included.
    ///   - random: an even draw from 0 to 1.
    public func verdict(_ failure: Failure, attempts: Int, random: Double) -> Verdict {
        guard !failure.code.isPermanent, attempts < attemptsMax else { return .dead }
        // 2^20 seconds are beyond any cap; the bound keeps the factor finite.
        let factor = Double(1 << min(max(attempts - 1, 0), 20))
        return .retry(after: min(cap, base * factor) * random)
    }
}
