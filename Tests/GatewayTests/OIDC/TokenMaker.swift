import Adjustments
import Crypto
import CryptoExtras
import Foundation

/// Keys of a provider, and tokens that are signed with them, truly and falsely. It knows nothing of jwt-kit, which judges
/// them.
struct TokenMaker: Sendable {
    /// How a token is signed.
    enum Signing: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case ps256 = "PS256"
        case es256 = "ES256"
        case edDSA = "EdDSA"
        /// Not at all.
        case none
        /// By a shared secret: the bytes of the public key, which everybody knows.
        case hs256 = "HS256"
    }

    /// The name of this generation of keys.
    let name: String
    private let rsa: _RSA.Signing.PrivateKey
    private let ec = P256.Signing.PrivateKey()
    private let ed = Curve25519.Signing.PrivateKey()

    /// Making one takes a while, and tests need no other.
    private static let shared = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    /// - Parameter isNew: with an RSA key of its own.
    init(_ name: String, isNew: Bool = false) throws {
        self.name = name
        rsa = isNew ? try _RSA.Signing.PrivateKey(keySize: .bits2048) : try Self.shared.get()
    }

    /// The public keys, as a provider lists them, between others that are not for tokens.
    var keySet: JSONValue {
        get throws {
            let numbers = try rsa.publicKey.getKeyPrimitives()
            let (modulus, exponent) = (numbers.modulus, numbers.publicExponent)
            let point = ec.publicKey.rawRepresentation
            return .object([
                "keys": .array([
                    .object([
                        "kty": .string("oct"), "kid": .string("\(name)-rsa"),
                        "k": .string("c2VjcmV0"),
                    ]),
                    .object([
                        "kty": .string("RSA"), "use": .string("enc"), "alg": .string("RSA-OAEP"),
                        "kid": .string("\(name)-enc"), "n": .string(modulus.base64URL),
                        "e": .string(exponent.base64URL),
                    ]),
                    .object([
                        "kty": .string("RSA"), "use": .string("sig"), "kid": .string("\(name)-rsa"),
                        "n": .string(modulus.base64URL), "e": .string(exponent.base64URL),
                    ]),
                    .object([
                        "kty": .string("EC"), "crv": .string("P-256"), "alg": .string("ES256"),
                        "kid": .string("\(name)-ec"), "x": .string(point.prefix(32).base64URL),
                        "y": .string(point.suffix(32).base64URL),
                    ]),
                    .object([
                        "kty": .string("OKP"), "crv": .string("Ed25519"),
                        "kid": .string("\(name)-ed"),
                        "x": .string(ed.publicKey.rawRepresentation.base64URL),
                    ]),
                    .object([
                        "kty": .string("EC"), "crv": .string("secp256k1"),
                        "kid": .string("\(name)-k1"), "x": .string("AA"), "y": .string("AA"),
                    ]),
                ])
            ])
        }
    }

    /// A token.
    ///
    /// - Parameters:
    ///   - keyName: nil: that of the key by which it is signed.
    ///   - header: further fields of the header.
    func token(
        _ claims: [String: JSONValue], _ signing: Signing, keyName: String? = nil,
        header: [String: JSONValue] = [:]
    ) throws -> String {
        var header = header
        header["alg"] = .string(signing.rawValue)
        header["kid"] = .string(keyName ?? "\(name)-\(suffix(signing))")
        let text =
            [JSONValue.object(header), .object(claims)]
            .map { Data($0.canonical.utf8).base64URL }.joined(separator: ".")
        return text + "." + (try signature(Data(text.utf8), signing)).base64URL
    }

    private func suffix(_ signing: Signing) -> String {
        switch signing {
        case .rs256, .ps256, .none, .hs256: "rsa"
        case .es256: "ec"
        case .edDSA: "ed"
        }
    }

    private func signature(_ bytes: Data, _ signing: Signing) throws -> Data {
        let digest = SHA256.hash(data: bytes)
        switch signing {
        case .rs256:
            return try rsa.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation
        case .ps256: return try rsa.signature(for: digest, padding: .PSS).rawRepresentation
        case .es256: return try ec.signature(for: digest).rawRepresentation
        case .edDSA: return try ed.signature(for: bytes)
        case .none: return Data()
        case .hs256:
            let known = SymmetricKey(data: rsa.publicKey.derRepresentation)
            return Data(HMAC<SHA256>.authenticationCode(for: bytes, using: known))
        }
    }
}

extension Data {
    var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
