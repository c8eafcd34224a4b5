import NIOHTTP1

/// The keys of a container's role, from the service beside the container (ECS, EKS Pod Identity).
///
/// They are configured by `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or
/// `AWS_CONTAINER_CREDENTIALS_FULL_URI`, with `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE` or
/// `AWS_CONTAINER_AUTHORIZATION_TOKEN`. Source: AWS SDKs and tools reference guide, "Container
/// credential provider".
public struct ContainerCredentials: CredentialSource {
    /// The server for relative URIs. Source: as above.
    static let relativeHost = "http://169.254.170.2"

    /// The hosts, besides this machine, to which a token may be sent unencrypted. Source: as
    /// above.
    static let plainHosts = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"]

    /// The most bytes of a token's file.
    static let tokenBytesMax = 64 << 10

    /// The name in messages.
    public let name = "the container's service"

    private let environment: [String: String]
    private let service: CredentialService

    /// Creates a source for the service that `environment` names.
    public init(_ environment: [String: String]) {
        self.init(environment, .real)
    }

    init(_ environment: [String: String], _ runtime: ClientRuntime) {
        self.environment = environment
        service = CredentialService(name: "The container's service", runtime: runtime)
    }

    /// Returns the role's keys; nil if no URI is set.
    public func fetch() async throws(BlobError) -> Credentials? {
        guard let url = try url() else { return nil }
        var headers: [(String, String)] = []
        if let token = try await token() { headers.append(("authorization", token)) }
        let answer: CredentialService.Answer
        do throws(TransportFailure) {
            answer = try await service.ask(.GET, url, headers: headers)
        } catch {
            throw service.error(error, at: url)
        }
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
