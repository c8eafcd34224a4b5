import Edits
import FoundationEssentials

/// An ID token as received: decoded, but not verified (RFC 7519, RFC 7515).
struct IDToken: Sendable {
    let algorithm: SigningKeys.Algorithm
    /// The name of the signing key; nil if the token contains none.
    let keyName: String?
    private let claims: JSONValue
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// The maximum length of a token in bytes; one that lists 200 groups has some 10 KB.
    static let bytesMax = 64 << 10

    /// - Throws: `untrustedToken`.
    init(_ text: String) throws(OIDCError) {
        guard text.utf8.count <= Self.bytesMax else {
            throw OIDCError(
                .untrustedToken, "the ID token has more than \(Self.bytesMax) bytes.")
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.document(parts[0]),
            let claims = Self.document(parts[1]), let signature = Data(base64URL: parts[2])
        else { throw OIDCError(.untrustedToken, "the ID token is no signed JSON Web Token.") }
        let named = header["alg"]?.text ?? ""
        guard let algorithm = SigningKeys.Algorithm(rawValue: named) else {
            throw OIDCError(
                .untrustedToken,
                "the ID token is signed by \(String(named.prefix(40)).debugDescription); expected one of "
                    + SigningKeys.Algorithm.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        // Critical extensions (RFC 7515, 4.1.11): none is supported.
        guard header["crit"] == nil else {
            throw OIDCError(.untrustedToken, "the ID token asks for extensions of its signature.")
        }
        self.algorithm = algorithm
        keyName = header["kid"]?.text
        self.claims = claims
        signed = Array("\(parts[0]).\(parts[1])".utf8)
        self.signature = Array(signature)
    }

    /// Returns the claims if one of the provider's keys signed exactly these bytes.
    ///
    /// - Throws: `untrustedToken`, `unknownSigningKey`.
    func claims(signedBy keys: SigningKeys) throws(OIDCError) -> JSONValue {
        let key = try keys.key(named: keyName, for: algorithm)
        guard algorithm.verify(signature, of: signed, with: key) else {
            throw OIDCError(.untrustedToken, "the ID token is not signed by the provider's key.")
        }
        return claims
    }

    private static func document(_ part: Substring) -> JSONValue? {
        guard let data = Data(base64URL: part),
            case .object(let fields)? = JSONValue(ofProvider: data)
        else { return nil }
        return .object(fields)
    }
}
