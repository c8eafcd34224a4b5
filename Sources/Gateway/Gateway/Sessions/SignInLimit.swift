import AccessKeys

/// The limit of the sessions that each key begins, of which the holder of one key cannot use up another's. Keys have 256 bits, so
/// guessing needs no limit.
struct SignInLimit: Sendable {
    /// The sessions a second, and the burst. Each takes 200 bytes of Redis for ``SessionStore/duration``.
    static let perSecond = 1
    static let atOnce = 60

    private let limiter = RateLimiter(name: "signins")

    /// - Throws: `tooManyRequests`.
    func charge(_ key: AccessKey) throws(Problem) {
        let answer = limiter.consume(for: key.id, rate: Self.perSecond, burst: Self.atOnce)
        guard answer.isAllowed else {
            throw Problem(
                .tooManyRequests,
                "Key \(key.id) began \(Self.atOnce) sessions in a moment; try again in a moment.",
                retryAfter: answer.retryAfterSeconds)
        }
    }
}
