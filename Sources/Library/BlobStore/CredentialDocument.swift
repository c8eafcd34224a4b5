import FoundationEssentials

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
