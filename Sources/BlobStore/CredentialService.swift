import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// A service that gives keys over HTTP, asked a few times.
struct CredentialService: Sendable {
    /// The most bytes of an answer.
    static let bytesMax = 64 << 10
    /// The most attempts of a request.
    static let triesMax = 3
    /// The longest time to a connection: such services are near.
    static let connectTimeout = TimeAmount.seconds(2)
    /// The longest silence of one that was asked.
    static let silenceMax = TimeAmount.seconds(5)

    /// The name that messages use.
    let name: String
    let surroundings: Surroundings

    /// The answer of a service.
    struct Answer: Sendable {
        let status: Int
        let bytes: [UInt8]
    }

    /// Asks, again after failures that may pass; throws when no attempt was answered.
    ///
    /// - Parameter tries: One tells soon that nobody listens.
    func ask(
        _ method: HTTPMethod, _ url: String, headers: [(String, String)] = [],
        body: String? = nil, tries: Int = triesMax
    ) async throws(TransportFailure) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let transport = HTTPTransport(Self.configuration)
        let result = await Self.repeated(request, over: transport, tries, surroundings)
        await transport.close()
        return try result.get()
    }

    /// Connections of its own for each time: it is asked once in an hour.
    private static var configuration: HTTPClient.Configuration {
        var http = HTTPClient.Configuration()
        http.httpVersion = .http1Only
        http.redirectConfiguration = .disallow
        http.timeout = HTTPClient.Configuration.Timeout(
            connect: connectTimeout, read: silenceMax)
        http.connectionPool.retryConnectionEstablishment = false
        return http
    }

    private static func repeated(
        _ request: HTTPClientRequest, over transport: HTTPTransport, _ tries: Int,
        _ surroundings: Surroundings
    ) async -> Result<Answer, TransportFailure> {
        var failures = 0
        while true {
            let result = await attempt(request, over: transport)
            failures += 1
            switch result {
            case .success(let answer) where answer.status < 500 && answer.status != 429:
                return result
            case .success, .failure:
                guard failures < tries else { return result }
            }
            let delay = Backoff.delay(
                failures: failures, slowDown: false, random: surroundings.random())
            do { try await surroundings.sleep(delay) } catch {
                return .failure(TransportFailure(error))
            }
        }
    }

    private static func attempt(
        _ request: HTTPClientRequest, over transport: HTTPTransport
    ) async -> Result<Answer, TransportFailure> {
        do throws(TransportFailure) {
            let response = try await transport.send(request)
            return .success(
                Answer(
                    status: Int(response.status.code),
                    bytes: try await response.bytes(atMost: bytesMax)))
        } catch {
            return .failure(error)
        }
    }

    /// Reads an address from an environment variable; its value is not shown, because it may have a
    /// login in it.
    func address(
        _ text: some StringProtocol, from variable: String
    ) throws(BlobError) -> BlobURL.Endpoint {
        do throws(BlobError) {
            return try BlobURLParser.endpoint(Substring(text))
        } catch {
            throw self.error(
                "\(variable) is no address: expected http:// or https://, host and port.")
        }
    }

    /// The error of a service that gave no keys; `what` must have no secret in it.
    func error(_ what: String) -> BlobError {
        BlobError(.noCredentials, "\(name) gave no credentials: \(what)")
    }

    func error(_ failure: TransportFailure, at place: String) -> BlobError {
        BlobError(
            failure.kind == .cancelled ? .cancelled : .noCredentials,
            "\(name) gave no credentials: \(place) did not answer (\(failure.reason)). Check that "
                + "it runs and that this machine may reach it.")
    }
}
