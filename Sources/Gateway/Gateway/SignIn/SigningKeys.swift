import Edits
import FoundationEssentials

/// The keys with which a provider signs (RFC 7517), only their public parts.
struct SigningKeys: Sendable {
    /// An accepted algorithm, and the kind of key that it needs. Signatures by a shared secret (`HS…`) and missing signatures
    /// are not accepted: anyone who knows the public key, or nothing, could create them.
    enum Algorithm: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case rs384 = "RS384"
        case rs512 = "RS512"
        case ps256 = "PS256"
        case ps384 = "PS384"
        case ps512 = "PS512"
        case es256 = "ES256"
        case es384 = "ES384"
        case es512 = "ES512"
        case edDSA = "EdDSA"

        /// The type of key in the provider's document.
        var keyType: String {
            switch self {
            case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: "RSA"
            case .es256, .es384, .es512: "EC"
            case .edDSA: "OKP"
            }
        }

        /// The name of the curve, if the algorithm determines it.
        var curve: String? {
            switch self {
            case .es256: PublicKey.Curve.p256.rawValue
            case .es384: PublicKey.Curve.p384.rawValue
            case .es512: PublicKey.Curve.p521.rawValue
            case .edDSA: "Ed25519"
            case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: nil
            }
        }

        func verify(
            _ signature: [UInt8], of message: [UInt8], with key: PublicKey
        ) -> Bool {
            let hash: PublicKey.Hash
            switch self {
            case .rs256, .ps256, .es256, .edDSA: hash = .sha256
            case .rs384, .ps384, .es384: hash = .sha384
            case .rs512, .ps512, .es512: hash = .sha512
            }
            let padding: PublicKey.Padding =
                [.ps256, .ps384, .ps512].contains(self) ? .pss : .pkcs1
            return key.verifies(signature, of: message, hash: hash, padding: padding)
        }
    }

    /// The maximum number of a provider's keys; further ones are ignored.
    static let keysMax = 100

    private let keys: [JSONValue]

    /// Keeps the keys for signatures; others and those of unknown kinds are left out.
    ///
    /// - Throws: `providerUnavailable` if the document is not a set of keys.
    init(_ document: JSONValue) throws(OIDCError) {
        guard case .array(let keys) = document["keys"] else {
            throw OIDCError(.providerUnavailable, "the provider's keys are not a JSON Web Key Set.")
        }
        let types = Set(Algorithm.allCases.map(\.keyType))
        self.keys = keys.prefix(Self.keysMax).filter { key in
            types.contains(key["kty"]?.text ?? "") && [nil, "sig"].contains(key["use"]?.text)
        }
    }

    /// Returns the key that a token names, for one algorithm only.
    ///
    /// If the token names no key, exactly one key must fit its algorithm.
    ///
    /// - Throws: `unknownSigningKey`; `untrustedToken` if the key is for another algorithm or cannot be decoded.
    func key(
        named name: String?, for algorithm: Algorithm
    ) throws(OIDCError) -> PublicKey {
        let named = keys.filter { name == nil || $0["kid"]?.text == name }
        guard !named.isEmpty else {
            throw OIDCError(
                .unknownSigningKey,
                "the ID token is signed with a key that the provider does not list.")
        }
        let fitting = named.filter { $0.fits(algorithm) }
        guard let key = fitting.first, name != nil || fitting.count == 1 else {
            throw OIDCError(
                .untrustedToken,
                name == nil
                    ? "the ID token does not say which of the provider's keys signed it."
                    : "the ID token is signed by \(algorithm.rawValue), for which its key is not.")
        }
        guard let readable = key.publicKey(for: algorithm) else {
            throw OIDCError(
                .untrustedToken, "the provider's key for \(algorithm.rawValue) cannot be read.")
        }
        return readable
    }
}

extension JSONValue {
    fileprivate func fits(_ algorithm: SigningKeys.Algorithm) -> Bool {
        self["kty"]?.text == algorithm.keyType
            && [nil, algorithm.rawValue].contains(self["alg"]?.text)
            && (algorithm.curve == nil || self["crv"]?.text == algorithm.curve)
    }

    /// Returns the key; nil if it cannot be read. A private part that the provider may have exposed by mistake is left out.
    fileprivate func publicKey(for algorithm: SigningKeys.Algorithm) -> PublicKey? {
        func bytes(_ name: String) -> [UInt8]? {
            self[name]?.text.flatMap { Data(base64URL: $0[...]) }.map { Array($0) }
        }
        if algorithm.keyType == "RSA" {
            guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
            return PublicKey.rsa(modulus: modulus, exponent: exponent)
        }
        guard let x = bytes("x") else { return nil }
        guard let curve = algorithm.curve.flatMap(PublicKey.Curve.init) else {
            return .ed25519(x)
        }
        return bytes("y").flatMap { .point(of: curve, x: x, y: $0) }
    }
}

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
