import AccessKeys
import Edits
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Logging
import NIOCore
import Operations

/// An admitted request on its way through a route.
struct Call: Sendable {
    let request: Request
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
    let parts: CallParts
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

    /// The request whose body a handler reads: its bytes are counted, and none is read after the caller's key is refused.
    ///
    /// ``request`` has the body of the connection. Streams notice by it that their client leaves, which Hummingbird tells of no body that was
    /// replaced twice: it traps.
    var readable: Request {
        var readable = request
        readable.body = RequestBody(
            asyncSequence: CountedBody(body: request.body, metrics: parts.metrics))
        if let caller {
            readable.body = RequestBody(
                asyncSequence: RightfulBody(
                    body: readable.body, keys: parts.keys, keyID: caller.id))
        }
        return readable
    }

    /// Writes what the caller did to the audit log.
    func note(_ action: String, _ detail: String) async throws {
        try await parts.audit.note(action, detail, by: doer)
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

    func header(_ name: HTTPField.Name) -> String? { request.headers[name] }
}

extension Call {
    /// Reads the whole body as text, if its type is JSON.
    ///
    /// - Throws: `bodyTooLarge`, `badBody`.
    func text(atMost most: Int) async throws -> String {
        try checkIsJSON()
        return try await text(of: try await wholeBody(atMost: most))
    }

    private func text(of bytes: ByteBuffer) async throws -> String {
        try await inTurn(bytes.readableBytes) {
            try BodyReading.checkDepth(ofJSON: bytes)
            guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
                throw Problem(.badBody, "The body is not UTF-8.")
            }
            return text
        }
    }

    /// Reads the whole body as a JSON document.
    ///
    /// - Parameter most: the most bytes that it may have.
    /// - Throws: `bodyTooLarge`, `badBody`; `malformedJSON`.
    func json(atMost most: Int? = nil) async throws -> JSONValue {
        let text = try await text(atMost: most ?? parts.settings.bodyBytesMax)
        return try await inTurn(text.utf8.count) { try JSONValue(parsing: text, as: "the body") }
    }

    /// Reads the body as ``json(atMost:)`` does; returns nil if there is no body.
    func optionalJSON() async throws -> JSONValue? {
        let bytes = try await wholeBody(atMost: parts.settings.bodyBytesMax)
        guard bytes.readableBytes > 0 else { return nil }
        try checkIsJSON()
        let text = try await text(of: bytes)
        return try await inTurn(text.utf8.count) { try JSONValue(parsing: text, as: "the body") }
    }

    /// The bytes of a body above which it is parsed in its caller's turn: 128 KB of JSON take some 10 ms of a core.
    private static let turnBytesMin = 4 << 10

    /// Parses a body, a large one in its caller's turn. What takes a turn itself must not be called within.
    ///
    /// - Throws: `tooManyRequests`; what `parse` throws.
    func inTurn<Result>(_ bytes: Int, _ parse: () throws -> Result) async throws -> Result {
        guard bytes > Self.turnBytesMin, let caller else { return try parse() }
        return try await parts.permits.reading(of: caller) { try parse() }
    }

    /// Reads the bytes of a body that fits into memory. A large one, or one without a length, needs a permit before its first byte is
    /// asked for.
    ///
    /// One with a length was charged to its key's rate with its head; one without is charged here, before it is parsed.
    ///
    /// - Throws: `bodyTooLarge`, `badBody`, `tooManyRequests`.
    func wholeBody(atMost most: Int) async throws -> ByteBuffer {
        let isChunked = header(.transferEncoding) != nil
        let isLarge = parts.limits.border.awaitsDemand(
            length: header(.contentLength), isChunked: isChunked)
        let permit = try isLarge ? caller.map { try parts.permits.wholeBody(of: $0) } : nil
        defer { permit?.close() }
        let bytes = try await BodyReading.bytes(of: readable, atMost: most)
        let requests = RequestRate.requests(ofBytes: bytes.readableBytes)
        if isChunked, let caller, requests > 1 {
            try parts.limits.rate.charge(requests - 1, to: caller)
        }
        return bytes
    }

    private func checkIsJSON() throws(Problem) {
        let type = header(.contentType)?.split(separator: ";").first.map {
            $0.trimmingSpaces.lowercased()
        }
        guard type == nil || type == "application/json" else {
            throw Problem(
                .badBody,
                "The body's type is \((type ?? "").debugDescription); expected application/json."
            )
        }
    }
}

/// The values that Hummingbird carries with a request.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

extension AccessKey {
    /// The key's view of jobs and events.
    var view: TenantView { TenantView(reach) }

    /// Returns the name under which the queue stores a job. The caller may pass the client's name or the stored name.
    ///
    /// A tenant's jobs are stored as `<tenant>.<id>`; a name that already has this prefix is returned as it is.
    func stored(job id: JobID) throws(KeyError) -> JobID {
        terms.tenant != nil && covers(storedID: id.string) ? id : try storedJobID(for: id)
    }

    /// Returns the stored name of a batch, by the same rules.
    ///
    /// - Throws: `invalidValue` for a name that is too long with the tenant's prefix.
    func stored(batch name: JobID) throws(Failure) -> BatchID {
        if terms.tenant != nil, covers(storedID: name.string) {
            return try BatchID(name.string)
        }
        let stored: JobID
        do throws(KeyError) {
            stored = try storedBatchName(for: name)
        } catch {
            throw Failure(.invalidValue, error.message)
        }
        return try BatchID(stored.string)
    }

    /// Returns the stored name of a job in a path. It may be a batch's member, `spring:4711`, or an entry of the
    /// ingress stream.
    func stored(inPath text: String) -> String {
        guard let tenant = terms.tenant, !covers(storedID: text) else { return text }
        return "\(tenant).\(text)"
    }
}

extension JSONValue {
    /// The whole number in a range; nil for any other value.
    func whole(in range: ClosedRange<Int>) -> Int? {
        guard case .number(let number) = self else { return nil }
        return Int(exactly: number).flatMap { range.contains($0) ? $0 : nil }
    }
}

/// The body of a call that carries a reason: `{"reason": "ordered twice"}`.
struct ReasonBody {
    let reason: String

    /// - Parameter usual: the reason if there is no body.
    /// - Throws: `badBody`.
    init(_ json: JSONValue?, usual: String) throws(Problem) {
        guard let json else {
            reason = usual
            return
        }
        guard case .object(let fields) = json, case .string(let reason)? = fields["reason"],
            fields.count == 1, !reason.isEmpty, reason.utf8.count <= QueueRule.reasonBytesMax
        else {
            throw Problem(
                .badBody,
                #"The body is no {"reason": …} with 1 to \#(QueueRule.reasonBytesMax) bytes of text."#
            )
        }
        self.reason = reason
    }
}

extension Response {
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var fields = headers
        fields[.contentType] = "application/json"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        return Response(
            status: status, headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
    }

    /// Returns a response with a value that is JSON already.
    static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var fields = headers
        fields[.contentType] = "application/json"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        return Response(
            status: status, headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(string: value.canonical)))
    }
}
