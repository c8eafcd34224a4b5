/// Whether a request is within its limit, and the numbers that its answer tells.
///
/// Source of the fields: draft-ietf-httpapi-ratelimit-headers-11.
package struct RateLimitAnswer: Sendable, Equatable {
    /// The name of the limit, as the fields quote it: letters only.
    package let name: String
    /// Whether the request may go on.
    package let isAllowed: Bool
    /// Requests at once after a quiet time: `q`.
    package let quota: Int
    /// Seconds in which an empty bucket fills: `w`.
    package let windowSeconds: Int
    /// Requests that are left: `r`.
    package let remaining: Int
    /// Seconds until all of the quota is there again: `t`.
    package let resetSeconds: Int
    /// Seconds until the refused request may be repeated; nil when it was allowed.
    package let retryAfterSeconds: Int?

    /// `"requests";q=20;w=2`.
    package var policyField: String { "\"\(name)\";q=\(quota);w=\(windowSeconds)" }
    /// `"requests";r=19;t=1`.
    package var field: String { "\"\(name)\";r=\(remaining);t=\(resetSeconds)" }

    /// The fields of the answer: `RateLimit-Policy`, `RateLimit`, and `Retry-After` for one that is refused.
    package var headers: [(name: String, value: String)] {
        [("RateLimit-Policy", policyField), ("RateLimit", field)]
            + (retryAfterSeconds.map { [("Retry-After", "\($0)")] } ?? [])
    }
}
