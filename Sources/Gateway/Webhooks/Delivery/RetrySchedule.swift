/// The delays before a failed message is retried: 5 s, 20 s, 80 s … 24 h, each shortened at random by up to a half.
///
/// The attempts extend over more than a day. The jitter keeps the endpoints of one host that was unavailable from being retried
/// at the same moment.
package struct RetrySchedule: Sendable {
    /// The delay after the first failure.
    package var base = Duration.seconds(5)
    /// The maximum delay.
    package var cap = Duration.seconds(86_400)
    /// The ratio of each delay to the one before.
    package var factor = 4
    /// The maximum number of attempts; then the message is given up. 5 s × 4^n: the last of 9 follows 15 to 30 hours after the
    /// first.
    package var attemptsMax = 9

    package init() {}

    /// Returns the delay after a number of failures; nil if the message is given up.
    ///
    /// - Parameters:
    ///   - random: A random number from 0 up to 1, uniformly distributed.
    ///   - asked: The receiver's `Retry-After`, which may lengthen a delay up to the cap, and shortens none.
    package func delay(
        afterFailures failures: Int, random: Double, atLeast asked: Duration = .zero
    ) -> Duration? {
        guard failures >= 1, failures < attemptsMax else { return nil }
        var delay = base
        for _ in 1..<failures where delay < cap { delay *= factor }
        return max(min(delay, cap) * (1 - min(max(random, 0), 1) / 2), min(asked, cap))
    }
}
