import NIOHTTP1

/// The keys of a virtual machine's role, from the machine's own service (IMDSv2).
///
/// `AWS_EC2_METADATA_DISABLED` and `AWS_EC2_METADATA_SERVICE_ENDPOINT` are supported. Only
/// version 2 is used, because a forged request cannot get its token. Source: Amazon EC2 user
/// guide, "Use IMDSv2".
public struct InstanceCredentials: CredentialSource {
    /// The address of the service. Source: as above.
    static let endpoint = "http://169.254.169.254"

    /// The validity of a session's token, in seconds; it is used immediately.
    static let tokenSeconds = 60

    /// The longest name of a role. Source: IAM, 64 characters.
    static let roleBytesMax = 64

    private static let roles = "/latest/meta-data/iam/security-credentials/"

    /// The name in messages.
    public let name = "the machine's service"

    private let environment: [String: String]
    private let service: CredentialService

    /// Creates a source for the service of this machine.
    public init(_ environment: [String: String]) {
        self.init(environment, .real)
    }

    init(_ environment: [String: String], _ runtime: ClientRuntime) {
        self.environment = environment
        service = CredentialService(name: "The machine's service", runtime: runtime)
    }

    /// Returns the role's keys; nil if there is no role or no such service, as on most machines.
    public func fetch() async throws(BlobError) -> Credentials? {
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
        let url = endpoint + Self.roles + PercentCoding.encoded(role)
        guard let document = try await get(url, token),
            let credentials = CredentialDocument.credentials(in: document)
        else { throw service.error("\(url) answered without keys. Check the role \(role).") }
        return credentials
    }

    /// Returns the bytes at `url`; nil if there are none.
    private func get(_ url: String, _ token: String) async throws(BlobError) -> [UInt8]? {
        let answer: CredentialService.Answer
        do throws(TransportFailure) {
            answer = try await service.ask(
                .GET, url, headers: [("x-aws-ec2-metadata-token", token)])
        } catch {
            throw service.error(error, at: url)
        }
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
