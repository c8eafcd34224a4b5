/// The decision about a request under a rate limit, and the numbers for the fields of its response.
///
/// Source of the fields: draft-ietf-httpapi-ratelimit-headers-11.
package struct RateLimitAnswer: Sendable, Equatable {
    /// The name of the limit, as quoted in the fields: letters only.
    package let name: String
    /// Whether the request is allowed.
    package let isAllowed: Bool
    /// The number of simultaneous requests after a pause: `q`.
    package let quota: Int
    /// The time in which an empty bucket fills, in seconds: `w`.
    package let windowSeconds: Int
    /// The number of remaining requests: `r`.
    package let remaining: Int
    /// The time until the whole quota is available again, in seconds: `t`.
    package let resetSeconds: Int
    /// The time until the refused request may be repeated, in seconds; nil if it was allowed.
    package let retryAfterSeconds: Int?

    /// `"requests";q=20;w=2`.
    package var policyField: String { "\"\(name)\";q=\(quota);w=\(windowSeconds)" }
    /// `"requests";r=19;t=1`.
    package var field: String { "\"\(name)\";r=\(remaining);t=\(resetSeconds)" }

    /// The fields of the response: `RateLimit-Policy`, `RateLimit`, and `Retry-After` for a refused request.
    package var headers: [(name: String, value: String)] {
        [("RateLimit-Policy", policyField), ("RateLimit", field)]
            + (retryAfterSeconds.map { [("Retry-After", "\($0)")] } ?? [])
    }
}
