import AccessKeys

/// The rate limit for keys tried at the sign-in page, shared by all callers. Keys have 256 bits, so guessing needs no
/// lockout, but a flood of attempts needs a limit.
package final class SignInLimit: Sendable {
    /// The attempts a second, and the burst.
    static let perSecond = 5
    static let atOnce = 20

    private let limiter = RateLimiter(name: "signins", bucketsMax: 1)

    package init() {}

    /// - Throws: `tooManyRequests`.
    func consume() throws(Problem) {
        let answer = limiter.consume(for: "all", rate: Self.perSecond, burst: Self.atOnce)
        guard answer.isAllowed else {
            throw Problem(
                .tooManyRequests, "Too many people try to sign in; try again in a moment.",
                retryAfter: answer.retryAfterSeconds)
        }
    }
}
