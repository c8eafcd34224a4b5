import AsyncHTTPClient
import Edits
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP client for a provider: no redirects, JSON only, with bounded size and time.
struct ProviderClient: Sendable {
    /// The maximum size of a response, in bytes.
    static let answerBytesMax = 256 << 10
    static let connectTimeout = TimeAmount.seconds(3)
    /// The maximum time to the end of a response: a person waits for it.
    static let timeout = Duration.seconds(10)

    struct Answer: Sendable {
        let status: Int
        let document: JSONValue
    }

    /// - Throws: `providerUnavailable`, also for any status except 200.
    func get(_ url: String) async throws(OIDCError) -> JSONValue {
        let answer = try await send(HTTPClientRequest(url: url), url)
        guard answer.status == 200 else { throw Self.failure(url, "answered \(answer.status)") }
        return answer.document
    }

    /// Sends a form.
    ///
    /// - Parameter authorization: The value of the field `Authorization`, if any.
    func post(
        _ form: [(String, String)], to url: String, authorization: String?
    ) async throws(OIDCError) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        if let authorization { request.headers.add(name: "authorization", value: authorization) }
        request.body = .bytes(ByteBuffer(string: FormText.encode(form)))
        return try await send(request, url)
    }

    private func send(
        _ request: HTTPClientRequest, _ url: String
    ) async throws(OIDCError) -> Answer {
        let result: Result<Answer, OIDCError> = await withTaskGroup { group in
            group.addTask { await exchange(request, url) }
            group.addTask {
                // The sleep is cancelled if the exchange ends first.
                try? await Task.sleep(for: Self.timeout)
                return .failure(Self.failure(url, "gave no whole answer within \(Self.timeout)"))
            }
            let first = await group.next() ?? .failure(Self.failure(url, "was not asked"))
            group.cancelAll()
            return first
        }
        return try result.get()
    }

    private func exchange(
        _ request: HTTPClientRequest, _ url: String
    ) async -> Result<Answer, OIDCError> {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: Self.connectTimeout),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // Requests to a provider carry no trace.
        configuration.tracing.tracer = nil
        // Or a refused connection or certificate is tried anew until the time to connect is over.
        configuration.connectionPool.retryConnectionEstablishment = false
        // A new connection per request: a provider is contacted only for a sign-in.
        let client = HTTPClient(
            eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
        let result: Result<Answer, OIDCError>
        do throws(OIDCError) {
            result = .success(try await ask(client, request, url))
        } catch {
            result = .failure(error)
        }
        // The call fails only for a client that was shut down before.
        try? await client.shutdown()
        return result
    }

    private func ask(
        _ client: HTTPClient, _ request: HTTPClientRequest, _ url: String
    ) async throws(OIDCError) -> Answer {
        var request = request
        request.headers.add(name: "accept", value: "application/json")
        request.headers.add(name: "user-agent", value: "minilab-gateway")
        let response: HTTPClientResponse
        var bytes: [UInt8] = []
        var isTooLong = false
        do {
            response = try await client.execute(
                request, timeout: .nanoseconds(Int64(Self.timeout / .nanoseconds(1))))
            for try await part in response.body {
                isTooLong = bytes.count + part.readableBytes > Self.answerBytesMax
                // The rest is not read: the client closes the connection.
                if isTooLong { break }
                bytes.append(contentsOf: part.readableBytesView)
            }
        } catch {
            throw Self.failure(url, "gave no answer: \(error)")
        }
        let status = Int(response.status.code)
        guard !(300..<400).contains(status) else {
            throw Self.failure(url, "answered \(status); redirects are not followed")
        }
        guard status < 500 else { throw Self.failure(url, "answered \(status)") }
        guard !isTooLong else {
            throw Self.failure(url, "answered more than \(Self.answerBytesMax) bytes")
        }
        return Answer(status: status, document: try Self.document(bytes, response, url))
    }

    private static func document(
        _ bytes: [UInt8], _ response: HTTPClientResponse, _ url: String
    ) throws(OIDCError) -> JSONValue {
        let type = response.headers.first(name: "content-type") ?? ""
        guard type.lowercased().wholeMatch(of: /application\/([a-z0-9.\-]+\+)?json *(;.*)?/) != nil
        else {
            throw failure(
                url,
                "answered \(response.status.code) with \(String(type.prefix(80)).debugDescription), not JSON"
            )
        }
        guard let document = JSONValue(ofProvider: bytes) else {
            throw failure(
                url, "answered no JSON, or some that is nested deeper than \(JSONValue.depthMax)")
        }
        return document
    }

    private static func failure(_ url: String, _ what: String) -> OIDCError {
        OIDCError(.providerUnavailable, "\(url) \(what).")
    }
}

/// Names and values of a form or a query.
enum FormText {
    static func encode(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0.percentEncoded())=\($0.1.percentEncoded())" }.joined(separator: "&")
    }
}

extension JSONValue {
    /// The maximum nesting of arrays and objects in a provider's document.
    static let depthMax = 16

    /// Decodes a provider's document; nil if the bytes are not JSON, or are nested deeper than ``depthMax``.
    init?(ofProvider bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard Self.isShallow(bytes), let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        do {
            self = try JSONValue(parsing: text, as: "the document")
        } catch {
            return nil
        }
    }

    /// Brackets inside strings count as well: no provider's document has so many.
    private static func isShallow(_ bytes: [UInt8]) -> Bool {
        var depth = 0
        for byte in bytes {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { depth = max(0, depth - 1) }
            if depth > depthMax { return false }
        }
        return true
    }

    subscript(_ name: String) -> JSONValue? {
        if case .object(let fields) = self { fields[name] } else { nil }
    }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    /// The elements of an array of strings, or a single string; nil for any other value.
    var texts: [String]? {
        switch self {
        case .string(let text): return [text]
        case .array(let values):
            let texts = values.compactMap(\.text)
            return texts.count == values.count ? texts : nil
        case .null, .bool, .number, .object: return nil
        }
    }
}
