/// The wait before a repeat: exponential with full jitter.
///
/// Full jitter spreads the clients of a restarted store best. Source: AWS Architecture Blog,
/// "Exponential Backoff And Jitter".
enum Backoff {
    /// The upper bound of the first wait; it doubles with each repeat.
    static let base = Duration.milliseconds(50)
    /// The same bound after the store asked for fewer requests.
    static let slowDownBase = Duration.milliseconds(500)
    /// The upper bound of any wait.
    static let max = Duration.seconds(5)

    /// Returns the wait before the repeat after `failures` attempts, which is at least 1.
    ///
    /// - Parameter random: A number from 0 up to 1, evenly distributed.
    static func delay(failures: Int, slowDown: Bool, random: Double) -> Duration {
        let base = slowDown ? slowDownBase : base
        // 2^10 times either base exceeds the maximum, and is far from overflow.
        return Swift.min(max, base * (1 << Swift.min(failures - 1, 10))) * random
    }
}
