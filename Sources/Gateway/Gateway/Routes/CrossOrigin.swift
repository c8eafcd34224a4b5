import AccessKeys
import HTTPTypes
import Hummingbird

/// Calls of the API from pages of other origins (CORS, Fetch §3.2). A key that names the origin permits them; a cookie
/// never does.
enum CrossOrigin {
    /// Seconds for which a browser caches the answer to a preflight.
    private static let preflightSeconds = 600
    private static let requestFields =
        "Authorization, Content-Type, Content-Digest, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer, Range"
    private static let responseFields =
        "Content-Location, Content-Range, ETag, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After"

    /// Returns the answer to a preflight. A preflight has no key, so it is always allowed, and the call itself is
    /// refused if necessary.
    static func preflight(_ request: Request, methods: [String]) -> Response? {
        guard request.method == .options, let origin = request.headers[.origin],
            request.headers[.accessControlRequestMethod] != nil
        else { return nil }
        return Response(
            status: .noContent,
            headers: [
                .accessControlAllowOrigin: origin, .vary: "Origin",
                .accessControlAllowMethods: methods.joined(separator: ", "),
                .accessControlAllowHeaders: requestFields,
                .accessControlMaxAge: "\(preflightSeconds)",
            ])
    }

    /// Returns the fields that let a page of the origin read the response; none for a call that no page sent.
    ///
    /// - Throws: `foreignOrigin` for a page of an origin that the key does not name.
    static func fields(_ request: Request, _ key: AccessKey) throws(Problem) -> HTTPFields {
        guard let origin = request.headers[.origin] else { return [:] }
        guard key.corsOrigins.contains(origin) else {
            throw Problem(
                .foreignOrigin,
                "Key \(key.id) is not for pages of \(String(origin.prefix(200)).debugDescription). Make one that names this "
                    + "origin.")
        }
        return [
            .accessControlAllowOrigin: origin, .vary: "Origin",
            .accessControlExposeHeaders: responseFields,
        ]
    }
}
