import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// An admitted request on its way through a route.
struct Call: Sendable {
    let request: Request
    let route: Route
    /// The path parameters of the route, still percent-encoded.
    let parameters: Parameters
    /// The rest of the path behind a route's prefix, still percent-encoded.
    let tail: String?
    /// The caller's key; nil on open routes.
    let caller: AccessKey?
    /// The token of the caller's session; nil for a caller that sent a key.
    let session: String?
    /// The person of the session, as the identity provider named them; nil for a caller that presented the key itself.
    let person: String?
    let channel: any Channel
    let parts: GatewayParts
    let logger: Logger

    /// The caller's key.
    ///
    /// - Throws: `missingKey`, which cannot happen on a route that requires a key.
    var key: AccessKey {
        get throws(Problem) {
            guard let caller else { throw Problem(.missingKey, "This call needs a key.") }
            return caller
        }
    }

    /// The caller, for the audit log.
    ///
    /// - Throws: `missingKey`, as ``key`` does.
    var doer: AuditLog.Doer {
        get throws(Problem) { AuditLog.Doer(key: try key, person: person) }
    }

    /// Returns a path parameter, percent-decoded once.
    func parameter(_ name: String) throws(Problem) -> String {
        guard let text = parameters.get(name)?.percentDecoded, !text.isEmpty else {
            throw Problem(.badParameter, "\(name) in the path is not UTF-8 with percent signs.")
        }
        return text
    }

    /// Returns a path parameter as the name of a job, batch or tenant.
    func name(_ parameter: String) throws(Problem) -> JobID {
        let text = try self.parameter(parameter)
        do throws(Failure) {
            return try JobID(text)
        } catch {
            throw Problem(.badParameter, error.message)
        }
    }

    /// Returns a query parameter; nil if it is missing or empty.
    func query(_ name: String) -> String? {
        request.uri.queryParameters[name[...]].flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// Returns all values of a query parameter except empty ones.
    func queries(_ name: String) -> [String] {
        request.uri.queryParameters[values: name[...]].filter { !$0.isEmpty }
            .map { String($0) }
    }

    /// Returns a whole number in the query; nil if it is missing.
    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(
                .badParameter,
                "\(name) is \(String(text.prefix(80)).debugDescription); expected a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound).")
        }
        return number
    }

    /// Returns a boolean parameter of the query; false if it is missing.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch query(name) {
        case nil, "false": false
        case "true": true
        case let text?:
            throw Problem(
                .badParameter,
                "\(name) is \(String(text.prefix(80)).debugDescription); expected true or false.")
        }
    }

    /// Returns a header field; nil if it is missing.
    func header(_ name: HTTPField.Name) -> String? { request.headers[name] }
}

extension HTTPField.Name {
    private static func known(_ text: String) -> Self {
        guard let name = Self(text) else { preconditionFailure("\(text) is a field's name") }
        return name
    }

    static let idempotencyKey = known("Idempotency-Key")
    static let prefer = known("Prefer")
    static let preferenceApplied = known("Preference-Applied")
    static let rateLimit = known("RateLimit")
    static let rateLimitPolicy = known("RateLimit-Policy")
    static let lastEventID = known("Last-Event-ID")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let secFetchMode = known("Sec-Fetch-Mode")
    static let traceparent = known("traceparent")
    static let contentDigest = known("Content-Digest")
}
