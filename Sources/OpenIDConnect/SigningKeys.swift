import Adjustments
import JWTKit

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

        /// The curve, if the algorithm determines it.
        var curve: String? {
            switch self {
            case .es256: "P-256"
            case .es384: "P-384"
            case .es512: "P-521"
            case .edDSA: "Ed25519"
            case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: nil
            }
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
    ) async throws(OIDCError) -> any JWTAlgorithm {
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
        do {
            // The collection contains only this key, because jwt-kit falls back to any key of a collection.
            return try await JWTKeyCollection().add(jwk: key.publicKey(for: algorithm))
                .getKey(alg: algorithm.rawValue)
        } catch {
            throw OIDCError(
                .untrustedToken, "the provider's key for \(algorithm.rawValue) cannot be read.")
        }
    }
}

extension JSONValue {
    fileprivate func fits(_ algorithm: SigningKeys.Algorithm) -> Bool {
        self["kty"]?.text == algorithm.keyType
            && [nil, algorithm.rawValue].contains(self["alg"]?.text)
            && (algorithm.curve == nil || self["crv"]?.text == algorithm.curve)
    }

    /// Returns the key in the form of jwt-kit, without a private part that the provider may have exposed by mistake.
    fileprivate func publicKey(for algorithm: SigningKeys.Algorithm) -> JWK {
        let name = JWKIdentifier(string: "key")
        let called = JWK.Algorithm(rawValue: algorithm.rawValue)
        switch algorithm.keyType {
        case "RSA":
            return .rsa(
                called, identifier: name, modulus: self["n"]?.text, exponent: self["e"]?.text)
        case "EC":
            return .ecdsa(
                called, identifier: name, x: self["x"]?.text, y: self["y"]?.text,
                curve: algorithm.curve.flatMap { ECDSACurve(rawValue: $0) })
        default:
            return .octetKeyPair(
                called, identifier: name, x: self["x"]?.text, y: nil, curve: .ed25519)
        }
    }
}
