import AccessKeys
import Adjustments
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// A request on its way through a route, by somebody who may call it.
struct Call: Sendable {
    let request: Request
    let route: Route
    /// The parts of the path that the route names, as they were sent.
    let parameters: Parameters
    /// The rest of the path behind a route's prefix, as it was sent.
    let tail: String?
    /// The caller's key; nil for open routes.
    let caller: AccessKey?
    /// The token of the caller's session; nil for one with a key.
    let session: String?
    /// The person of the session whom an identity provider named; nil for who has shown the key itself.
    let person: String?
    let channel: any Channel
    let parts: GatewayParts
    let logger: Logger

    /// The caller's key.
    ///
    /// - Throws: `missingKey`, which a route that needs a key never sees.
    var key: AccessKey {
        get throws(Problem) {
            guard let caller else { throw Problem(.missingKey, "This call needs a key.") }
            return caller
        }
    }

    /// The caller, for the audit.
    ///
    /// - Throws: `missingKey`, as ``key`` does.
    var doer: AuditLog.Doer {
        get throws(Problem) { AuditLog.Doer(key: try key, person: person) }
    }

    /// A part of the path, with its percent signs decoded once.
    func parameter(_ name: String) throws(Problem) -> String {
        guard let text = parameters.get(name)?.percentDecoded, !text.isEmpty else {
            throw Problem(.badParameter, "\(name) in the path is not UTF-8 with percent signs.")
        }
        return text
    }

    /// The same as a name of a job, batch or tenant.
    func name(_ parameter: String) throws(Problem) -> JobID {
        let text = try self.parameter(parameter)
        do throws(Failure) {
            return try JobID(text)
        } catch {
            throw Problem(.badParameter, error.message)
        }
    }

    /// A parameter of the query; nil when it is not there or empty.
    func query(_ name: String) -> String? {
        request.uri.queryParameters[name[...]].flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// All values of a parameter of the query but empty ones.
    func queries(_ name: String) -> [String] {
        request.uri.queryParameters[values: name[...]].filter { !$0.isEmpty }
            .map { String($0) }
    }

    /// A whole number in the query; nil when it is not there.
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

    /// Whether something is asked for in the query.
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

    /// A header field, if it was sent.
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
    static let contentDigest = known("Content-Digest")
}
