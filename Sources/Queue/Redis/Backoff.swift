/// The wait before the next connection attempt: exponential with full jitter.
///
/// Full jitter spreads the clients of a restarted server best. Source: AWS Architecture Blog,
/// "Exponential Backoff And Jitter".
struct Backoff: Sendable {
    let base: Duration
    let max: Duration

    /// Returns the wait after a number of consecutive failed attempts.
    ///
    /// - Parameter random: A number from 0 up to 1, uniformly distributed.
    func delay(failures: Int, random: Double) -> Duration {
        // 2^30 times any useful base is above any useful maximum, and far from overflow.
        let bound = min(max, base * (1 << min(failures, 30)))
        return bound * random
    }
}
