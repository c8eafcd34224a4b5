import AccessKeys

/// How often keys are tried at the page where one signs in, by all together: 256 bits need no lock, a flood of attempts
/// needs an end.
package final class SignInLimit: Sendable {
    /// Attempts a second, and at once.
    static let perSecond = 5
    static let atOnce = 20

    private let limiter = RateLimiter(name: "signins", bucketsMax: 1)

    package init() {}

    /// - Throws: `tooManyRequests`.
    func take() throws(Problem) {
        let answer = limiter.take(for: "all", rate: Self.perSecond, burst: Self.atOnce)
        guard answer.isAllowed else {
            throw Problem(
                .tooManyRequests, "Too many people try to sign in; try again in a moment.",
                retryAfter: answer.retryAfterSeconds)
        }
    }
}
