import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// A client for a service that returns keys over HTTP, with a few retries.
struct CredentialService: Sendable {
    /// The most bytes of an answer.
    static let bytesMax = 64 << 10
    /// The most attempts of a request.
    static let triesMax = 3
    /// The longest wait for a connection, short because such services are near.
    static let connectTimeout = TimeAmount.seconds(2)
    /// The longest silence of the service after the request.
    static let silenceMax = TimeAmount.seconds(5)

    /// The name in messages.
    let name: String
    let runtime: ClientRuntime

    /// The answer of a service.
    struct Answer: Sendable {
        let status: Int
        let bytes: [UInt8]
    }

    /// Sends a request, and repeats it after failures that may be temporary. Throws if no attempt
    /// was answered.
    ///
    /// - Parameter tries: The number of attempts. With one, a missing service is detected
    ///   quickly.
    func ask(
        _ method: HTTPMethod, _ url: String, headers: [(String, String)] = [],
        body: String? = nil, tries: Int = triesMax
    ) async throws(TransportFailure) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let transport = HTTPTransport(Self.configuration)
        let result = await Self.repeated(request, over: transport, tries, runtime)
        await transport.close()
        return try result.get()
    }

    /// The configuration of a new client for each request, because the service is used about once
    /// an hour.
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
        _ runtime: ClientRuntime
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
                failures: failures, slowDown: false, random: runtime.random())
            do { try await runtime.sleep(delay) } catch {
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

    /// Parses an address from an environment variable. Messages do not show its value, because it
    /// may contain a login.
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

    /// Returns the error of a service that returned no keys. `what` must not contain a secret.
    func error(_ what: String) -> BlobError {
        BlobError(.noCredentials, "\(name) gave no credentials: \(what)")
    }

    func error(_ failure: TransportFailure, at address: String) -> BlobError {
        BlobError(
            failure.kind == .cancelled ? .cancelled : .noCredentials,
            "\(name) gave no credentials: \(address) did not answer (\(failure.reason)). Check that "
                + "it runs and that this machine may reach it.")
    }
}
