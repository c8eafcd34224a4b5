import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import NIOCore

/// The decision whether a request may call a route.
struct Authentication: Sendable {
    /// The caller that was accepted.
    struct AcceptedCaller: Sendable {
        var key: AccessKey?
        /// The token of the session, on a page.
        var session: String?
        /// The person of the session, as the identity provider named them.
        var person: String?
        var headers: HTTPFields
    }

    let keys: KeyRing
    let sessions: SessionStore
    let origin: PageOrigin
    let rate: RequestRate

    /// - Throws: `missingKey`, `sessionEnded`, `foreignOrigin`, `scopeMissing`, `tenantKey`, `tooManyRequests`, and the
    ///   reason for which a key is refused.
    func accept(_ request: Request, to route: Route) async throws -> AcceptedCaller {
        var accepted = AcceptedCaller(key: nil, session: nil, headers: [:])
        if route.access.isPage {
            try origin.checkHost(request)
            if route.method != .get { try origin.checkSender(request) }
        }
        guard let scope = route.access.scope else { return accepted }
        let key: AccessKey
        if route.access.isPage {
            (key, accepted.session, accepted.person) = try await holder(of: request)
        } else {
            key = try await keys.authenticate(Self.bearer(request))
        }
        accepted.key = key
        // A body without a length is charged when it has been read.
        let bytes = route.acceptsUpload ? nil : request.headers[.contentLength].flatMap { Int($0) }
        accepted.headers = try rate.charge(
            RequestRate.requests(ofBytes: bytes ?? 0), to: key)
        if !route.access.isPage {
            accepted.headers.append(contentsOf: try CrossOrigin.fields(request, key))
        }
        guard key.permits(scope) else {
            throw Problem(
                .scopeMissing,
                "Key \(key.id) has the scopes \(key.scopes.map(\.rawValue).sorted().joined(separator: ", ")); this call "
                    + "needs \(scope.rawValue). Ask the operator for another key.")
        }
        if route.access.isForOperators, !key.reach.isEverything {
            let owner = key.tenant.map { "tenant \($0)" } ?? "folder \(key.assetPrefix)"
            throw Problem(
                .tenantKey,
                "Key \(key.id) is for \(owner), and this call concerns the whole queue. Use a key of the operator."
            )
        }
        return accepted
    }

    /// Returns by whom what a request costs is counted: the id of the key that it presents, or its address.
    func caller(of request: Request, _ channel: any Channel) -> String {
        presentedID(request) ?? OpenConnections.address(channel.remoteAddress)
    }

    /// Returns the id of the key that a request presents; nil if it presents none that is accepted and known here.
    private func presentedID(_ request: Request) -> String? {
        do throws(Problem) {
            return keys.knownID(of: try Self.bearer(request))
        } catch {
            return nil  // ``accept(_:to:)`` says why
        }
    }

    /// Returns the key, the token and the person of the request's session.
    private func holder(of request: Request) async throws -> (AccessKey, String, String?) {
        let ended = Problem(.sessionEnded, "Sign in to see this page.")
        guard let token = origin.value(of: .session, request) else { throw ended }
        // Sessions come to their place before the keys do: one that is not there yet has not ended.
        try keys.checkContact()
        guard let holder = try await sessions.holder(of: token) else { throw ended }
        return (try await keys.key(named: holder.keyID), token, holder.person)
    }

    /// Returns the key of the header `Authorization` (RFC 6750 §2.1).
    private static func bearer(_ request: Request) throws(Problem) -> String {
        guard let field = request.headers[.authorization] else {
            throw Problem(
                .missingKey, "There is no key. Send one as Authorization: Bearer mlk_….")
        }
        let parts = field.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Problem(
                .malformedKey, "Authorization is not of the form Bearer mlk_….")
        }
        return String(parts[1])
    }
}

/// Calls of the API from pages of other origins (CORS, Fetch §3.2). A key that names the origin permits them; a cookie
/// never does.
enum CrossOrigin {
    /// Seconds for which a browser caches the answer to a preflight.
    private static let preflightSeconds = 600
    private static let requestFields =
        "Authorization, Content-Type, Content-Digest, Idempotency-Key, If-Match, If-None-Match, If-Range, "
        + "Last-Event-ID, Prefer, Range"
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

    /// Returns the fields that let any page read a refusal that no key had a part in, so that it sees why: that its key has expired, that the
    /// path is none. Nothing in it is a tenant's.
    static func refusal(_ request: Request) -> HTTPFields {
        guard let origin = request.headers[.origin] else { return [:] }
        return [
            .accessControlAllowOrigin: origin, .vary: "Origin",
            .accessControlExposeHeaders: responseFields,
        ]
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
