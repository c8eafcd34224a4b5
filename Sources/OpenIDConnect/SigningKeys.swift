import Adjustments
import JWTKit

/// The keys with which a provider signs (RFC 7517), public parts alone.
struct SigningKeys: Sendable {
    /// An algorithm that is believed, and the kind of key that it needs. Signatures by a shared secret (`HS…`) and none at
    /// all are not here: whoever knows the public key or nothing could make them.
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

        /// The curve, where the algorithm says it.
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

    /// Most keys of a provider; the rest is not looked at.
    static let keysMax = 100

    private let keys: [JSONValue]

    /// Takes the keys that are for signatures; others and those of unknown kinds are left out.
    ///
    /// - Throws: `providerUnavailable` for what is no set of keys.
    init(_ document: JSONValue) throws(OIDCError) {
        guard case .array(let keys) = document["keys"] else {
            throw OIDCError(.providerUnavailable, "the provider's keys are not a JSON Web Key Set.")
        }
        let types = Set(Algorithm.allCases.map(\.keyType))
        self.keys = keys.prefix(Self.keysMax).filter { key in
            types.contains(key["kty"]?.text ?? "") && [nil, "sig"].contains(key["use"]?.text)
        }
    }

    /// The key that a token names, for one algorithm alone.
    ///
    /// A token without a name is for the one key that fits its algorithm.
    ///
    /// - Throws: `unknownSigningKey`; `untrustedToken` when the key is for another algorithm or is none.
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
            // A collection of this key alone: jwt-kit falls back to any key of a collection.
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

    /// The key as jwt-kit takes it, without a private part that a careless provider may show.
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
