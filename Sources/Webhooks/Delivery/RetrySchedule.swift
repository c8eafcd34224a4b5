/// When a message that failed is sent again: 5 s, 20 s, 80 s … 24 h, each shortened at random by up to a half.
///
/// Tries spread over a day and more; the endpoints of one host that was away do not come back at the same moment.
package struct RetrySchedule: Sendable {
    /// The wait after the first failure.
    package var base = Duration.seconds(5)
    /// The longest wait.
    package var cap = Duration.seconds(86_400)
    /// How much longer each wait is than the one before.
    package var factor = 4
    /// Most tries; then the message is given up. 5 s × 4^n: the last of 9 comes 15 to 30 hours after the first.
    package var attemptsMax = 9

    package init() {}

    /// The wait after so many failures; nil: it is given up.
    ///
    /// - Parameters:
    ///   - random: from 0 up to 1, evenly distributed.
    ///   - asked: the receiver's own wish (`Retry-After`), which makes a wait longer, up to the cap, and none shorter.
    package func delay(
        afterFailures failures: Int, random: Double, atLeast asked: Duration = .zero
    ) -> Duration? {
        guard failures >= 1, failures < attemptsMax else { return nil }
        var delay = base
        for _ in 1..<failures where delay < cap { delay *= factor }
        return max(min(delay, cap) * (1 - min(max(random, 0), 1) / 2), min(asked, cap))
    }
}
