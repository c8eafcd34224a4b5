import AsyncHTTPClient
import Edits
import Files
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// A client for a service that returns keys over HTTP, with a few retries.
struct CredentialService: Sendable {
    static let bytesMax = 64 << 10
    static let triesMax = 3
    /// The longest wait for a connection, short because such services are near.
    static let connectTimeout = TimeAmount.seconds(2)
    /// The longest silence of the service after the request.
    static let silenceMax = TimeAmount.seconds(5)

    let name: String
    let runtime: ClientRuntime

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

    /// Sends a request as ``ask(_:_:headers:body:tries:)`` does.
    ///
    /// - Parameter address: The service's address for the message; nil means the URL.
    func answer(
        _ method: HTTPMethod, _ url: String, at address: String? = nil,
        headers: [(String, String)] = [], body: String? = nil
    ) async throws(BlobError) -> Answer {
        do throws(TransportFailure) {
            return try await ask(method, url, headers: headers, body: body)
        } catch {
            throw self.error(error, at: address ?? url)
        }
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
            let delay = Backoff.usual.delay(failures: failures - 1, random: runtime.random())
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

/// Keys in the JSON format of the container's and the machine's services.
struct CredentialDocument: Decodable {
    private enum CodingKeys: String, CodingKey {
        case code = "Code"
        case accessKey = "AccessKeyId"
        case secretKey = "SecretAccessKey"
        case token = "Token"
        case expiration = "Expiration"
    }

    /// `Success` if the machine's service returned keys; absent for the container's service.
    let code: String?
    let accessKey: String?
    let secretKey: String?
    let token: String?
    let expiration: String?

    /// Decodes the keys in a document; nil if it has none.
    static func credentials(in bytes: [UInt8]) -> Credentials? {
        let document: CredentialDocument
        do {
            document = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            // The document must not appear in a message, because it may contain a secret.
            return nil
        }
        guard document.code ?? "Success" == "Success", let access = document.accessKey,
            let secret = document.secretKey
        else { return nil }
        let expires = document.expiration.flatMap { BlobTime(iso: $0) }
        // An unreadable expiry must not count as no expiry.
        guard document.expiration == nil || expires != nil else { return nil }
        return Credentials(
            accessKey: access, secretKey: secret, sessionToken: document.token, expires: expires)
    }
}

/// The keys of a virtual machine's role, from the machine's own service (IMDSv2).
///
/// `AWS_EC2_METADATA_DISABLED` and `AWS_EC2_METADATA_SERVICE_ENDPOINT` are supported. Only
/// version 2 is used, because a forged request cannot get its token. Source: Amazon EC2 user
/// guide, "Use IMDSv2".
struct InstanceCredentials: CredentialSource {
    /// The address of the service. Source: as above.
    static let endpoint = "http://169.254.169.254"

    /// The validity of a session's token, in seconds; it is used immediately.
    static let tokenSeconds = 60

    /// The longest name of a role. Source: IAM, 64 characters.
    static let roleBytesMax = 64

    private static let roles = "/latest/meta-data/iam/security-credentials/"

    let name = "the machine's service"

    private let environment: [String: String]
    private let service: CredentialService

    init(_ environment: [String: String], _ runtime: ClientRuntime = .real) {
        self.environment = environment
        service = CredentialService(name: "The machine's service", runtime: runtime)
    }

    /// Returns the role's keys; nil if there is no role or no such service, as on most machines.
    func fetch() async throws(BlobError) -> Credentials? {
        guard environment.set("AWS_EC2_METADATA_DISABLED")?.lowercased() != "true" else {
            return nil
        }
        let given = environment.set("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? Self.endpoint
        let endpoint = try service.address(
            given, from: "AWS_EC2_METADATA_SERVICE_ENDPOINT"
        ).description
        let session: CredentialService.Answer
        do throws(TransportFailure) {
            session = try await service.ask(
                .PUT, endpoint + "/latest/api/token",
                headers: [("x-aws-ec2-metadata-token-ttl-seconds", "\(Self.tokenSeconds)")],
                body: "", tries: 1)
        } catch {
            if error.kind == .cancelled { throw service.error(error, at: endpoint) }
            return nil
        }
        guard session.status == 200, let token = Self.line(session.bytes) else {
            throw service.error("\(endpoint) gave no session (\(session.status)).")
        }
        guard let role = try await get(endpoint + Self.roles, token) else { return nil }
        guard let role = Self.line(role), role.utf8.count <= Self.roleBytesMax else {
            throw service.error("\(endpoint) names no role that could be one.")
        }
        let url = endpoint + Self.roles + role.percentEncoded()
        guard let document = try await get(url, token),
            let credentials = CredentialDocument.credentials(in: document)
        else { throw service.error("\(url) answered without keys. Check the role \(role).") }
        return credentials
    }

    /// Returns the bytes at `url`; nil if there are none.
    private func get(_ url: String, _ token: String) async throws(BlobError) -> [UInt8]? {
        let answer = try await service.answer(
            .GET, url, headers: [("x-aws-ec2-metadata-token", token)])
        switch answer.status {
        case 200: return answer.bytes
        case 404: return nil
        default: throw service.error("\(url) answered \(answer.status).")
        }
    }

    /// Returns the first line of a text, if it consists of printable ASCII characters.
    private static func line(_ bytes: [UInt8]) -> String? {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, line.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return String(decoding: line, as: UTF8.self)
    }
}

/// The keys of a container's role, from the service beside the container (ECS, EKS Pod Identity).
///
/// They are configured by `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or
/// `AWS_CONTAINER_CREDENTIALS_FULL_URI`, with `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE` or
/// `AWS_CONTAINER_AUTHORIZATION_TOKEN`. Source: AWS SDKs and tools reference guide, "Container
/// credential provider".
struct ContainerCredentials: CredentialSource {
    /// The server for relative URIs. Source: as above.
    static let relativeHost = "http://169.254.170.2"

    /// The hosts, besides this machine, to which a token may be sent unencrypted. Source: as
    /// above.
    static let plainHosts = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"]

    /// The most bytes of a token's file.
    static let tokenBytesMax = 64 << 10

    let name = "the container's service"

    private let environment: [String: String]
    private let service: CredentialService

    init(_ environment: [String: String], _ runtime: ClientRuntime = .real) {
        self.environment = environment
        service = CredentialService(name: "The container's service", runtime: runtime)
    }

    /// Returns the role's keys; nil if no URI is set.
    func fetch() async throws(BlobError) -> Credentials? {
        guard let url = try url() else { return nil }
        var headers: [(String, String)] = []
        if let token = try await token() { headers.append(("authorization", token)) }
        let answer = try await service.answer(.GET, url, headers: headers)
        guard answer.status == 200 else {
            throw service.error("\(url) answered \(answer.status). Check the task's or pod's role.")
        }
        guard let credentials = CredentialDocument.credentials(in: answer.bytes) else {
            throw service.error("\(url) answered without keys.")
        }
        return credentials
    }

    /// Returns the service's URL. It is validated, so that the token is sent nowhere else.
    private func url() throws(BlobError) -> String? {
        if let path = environment.set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            guard path.hasPrefix("/"), Self.isPlain(path) else {
                throw service.error(
                    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI must be a path that begins with \"/\".")
            }
            return Self.relativeHost + path
        }
        guard let full = environment.set("AWS_CONTAINER_CREDENTIALS_FULL_URI") else { return nil }
        let start = full.firstRange(of: "://")?.upperBound ?? full.startIndex
        let pathStart = full[start...].firstIndex { "/?#".contains($0) } ?? full.endIndex
        let host = try service.address(
            full[..<pathStart], from: "AWS_CONTAINER_CREDENTIALS_FULL_URI")
        let path = full[pathStart...]
        guard host.usesTLS || LoopbackHost.names(host.host) || Self.plainHosts.contains(host.host)
        else {
            throw service.error(
                "AWS_CONTAINER_CREDENTIALS_FULL_URI names \(host): expected https, this machine or "
                    + Self.plainHosts.joined(separator: ", ") + ".")
        }
        guard Self.isPlain(path), path.isEmpty || path.hasPrefix("/") else {
            throw service.error(
                "AWS_CONTAINER_CREDENTIALS_FULL_URI has no path of plain characters.")
        }
        return host.description + path
    }

    private func token() async throws(BlobError) -> String? {
        var token = environment.set("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        if let file = environment.set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            token = try await SmallFile.read(file, atMost: Self.tokenBytesMax)
            guard token != nil else { throw service.error("there is no token's file \(file).") }
        }
        guard var token else { return nil }
        if token.hasSuffix("\n") { token.removeLast() }
        guard Self.isPlain(token) else {
            throw service.error("the authorization token is not one line of plain characters.")
        }
        return token
    }

    private static func isPlain(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && !text.isEmpty
            && !text.contains("#")
    }
}
