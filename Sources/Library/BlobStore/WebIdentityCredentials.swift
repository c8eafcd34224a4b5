import NIOHTTP1

/// The keys of a role, for a token that the cluster writes to a file (Kubernetes service
/// accounts).
///
/// They are configured by `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`.
/// `AWS_ROLE_SESSION_NAME`, `AWS_REGION` and `AWS_ENDPOINT_URL_STS` are supported. The token's
/// file is read each time, because the cluster replaces it. Source: AWS STS API reference,
/// AssumeRoleWithWebIdentity.
public struct WebIdentityCredentials: CredentialSource {
    /// The most bytes of the token's file. Source: `WebIdentityToken` has at most 20,000 characters.
    static let tokenBytesMax = 20_001

    /// The name in messages.
    public let name = "the web identity"

    private let environment: [String: String]
    private let service: CredentialService

    /// Creates a source for the role and the token that `environment` names.
    public init(_ environment: [String: String]) {
        self.init(environment, .real)
    }

    init(_ environment: [String: String], _ runtime: ClientRuntime) {
        self.environment = environment
        service = CredentialService(
            name: "The security token service", runtime: runtime)
    }

    /// Returns the role's keys; nil if no token's file is named.
    public func fetch() async throws(BlobError) -> Credentials? {
        guard let file = environment.set("AWS_WEB_IDENTITY_TOKEN_FILE") else { return nil }
        guard let role = environment.set("AWS_ROLE_ARN") else {
            throw BlobError(
                .noCredentials,
                "AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not: set both or neither.")
        }
        let text = try await SmallFile.read(file, atMost: Self.tokenBytesMax)
        let token = text?.filter { !$0.isWhitespace } ?? ""
        guard !token.isEmpty else {
            throw service.error("the token's file \(file) is empty or does not exist.")
        }
        let form = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"),
            ("RoleArn", role),
            ("RoleSessionName", environment.set("AWS_ROLE_SESSION_NAME") ?? "minilab"),
            ("WebIdentityToken", token),
        ].map { "\($0)=\(PercentCoding.encoded($1))" }.joined(separator: "&")
        let endpoint = try endpoint()
        let answer: CredentialService.Answer
        do throws(TransportFailure) {
            answer = try await service.ask(
                .POST, endpoint + "/",
                headers: [("content-type", "application/x-www-form-urlencoded")], body: form)
        } catch {
            throw service.error(error, at: endpoint)
        }
        return try credentials(in: answer, role: role)
    }

    private func credentials(
        in answer: CredentialService.Answer, role: String
    ) throws(BlobError) -> Credentials {
        guard answer.status == 200 else {
            let refusal = S3Refusal(status: answer.status, headers: [:], body: answer.bytes)
            throw service.error(
                "for the role \(role) it answered \(refusal.sentence). Check the role's trust policy."
            )
        }
        let keys: XMLNode?
        do throws(XMLNode.Malformed) {
            keys = try XMLNode(document: answer.bytes)["AssumeRoleWithWebIdentityResult"]?[
                "Credentials"]
        } catch {
            throw service.error("its answer is XML with \(error.reason).")
        }
        guard let keys, let access = keys.text(of: "AccessKeyId"),
            let secret = keys.text(of: "SecretAccessKey"),
            let token = keys.text(of: "SessionToken"),
            let expires = keys.text(of: "Expiration").flatMap({ BlobTime(iso: $0) })
        else { throw service.error("its answer has no keys with an end.") }
        return Credentials(
            accessKey: access, secretKey: secret, sessionToken: token, expires: expires)
    }

    private func endpoint() throws(BlobError) -> String {
        if let given = environment.set("AWS_ENDPOINT_URL_STS") {
            return try service.address(given, from: "AWS_ENDPOINT_URL_STS").description
        }
        let region = environment.set("AWS_REGION") ?? environment.set("AWS_DEFAULT_REGION")
        guard let region else { return "https://sts.amazonaws.com" }
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        return try service.address(
            "https://sts.\(region).\(domain)", from: "AWS_REGION"
        ).description
    }
}
