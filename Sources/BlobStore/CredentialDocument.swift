import FoundationEssentials

/// Keys as the container's and the machine's services write them, in JSON.
struct CredentialDocument: Decodable {
    private enum CodingKeys: String, CodingKey {
        case code = "Code"
        case accessKey = "AccessKeyId"
        case secretKey = "SecretAccessKey"
        case token = "Token"
        case expiration = "Expiration"
    }

    /// `Success` where the machine's service gave keys; the container's has none.
    let code: String?
    let accessKey: String?
    let secretKey: String?
    let token: String?
    let expiration: String?

    /// The keys in a document; nil for one that has none.
    static func credentials(in bytes: [UInt8]) -> Credentials? {
        let document: CredentialDocument
        do {
            document = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            // The answer itself must not be told: there may be a secret in it.
            return nil
        }
        guard document.code ?? "Success" == "Success", let access = document.accessKey,
            let secret = document.secretKey
        else { return nil }
        let expires = document.expiration.flatMap { BlobTime(iso: $0) }
        // An end that cannot be read would be none.
        guard document.expiration == nil || expires != nil else { return nil }
        return Credentials(
            accessKey: access, secretKey: secret, sessionToken: document.token, expires: expires)
    }
}
