import Edits
import COpenSSL
import Foundation

/// Keys of a provider, and tokens that are signed with them, truly and falsely.
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
    private let rsa: PrivateKey
    private let ec: PrivateKey
    private let ed: PrivateKey

    /// Making one takes a while, and tests need no other.
    private static let shared = Result { try PrivateKey("RSA") }

    /// - Parameter isNew: with an RSA key of its own.
    init(_ name: String, isNew: Bool = false) throws {
        self.name = name
        rsa = isNew ? try PrivateKey("RSA") : try Self.shared.get()
        ec = try PrivateKey("EC")
        ed = try PrivateKey("ED25519")
    }

    /// The public keys, as a provider lists them, between others that are not for tokens.
    var keySet: JSONValue {
        get throws {
            let (modulus, exponent) = (try rsa.number("n"), try rsa.number("e"))
            // After the first byte, which says that both coordinates follow.
            let point = try ec.octets("pub").dropFirst()
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
                        "x": .string(try ed.octets("pub").base64URL),
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
        switch signing {
        case .rs256: return try rsa.sign(bytes)
        case .ps256: return try rsa.sign(bytes, padding: RSA_PKCS1_PSS_PADDING)
        case .es256: return try ec.sign(bytes)
        case .edDSA: return try ed.sign(bytes)
        case .none: return Data()
        case .hs256: return Data(HMAC.sha256(of: bytes, key: try rsa.info()))
        }
    }
}

/// A private key of OpenSSL.
///
/// `@unchecked Sendable` is safe because OpenSSL only reads a key once it is made.
private final class PrivateKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// Makes a key: `RSA` of 2048 bits, `EC` on P-256, `ED25519`.
    init(_ kind: String) throws {
        let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        try Self.insist(EVP_PKEY_keygen_init(context))
        if kind == "RSA" { try Self.insist(EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048)) }
        if kind == "EC" { try Self.insist(EVP_PKEY_CTX_set_group_name(context, "P-256")) }
        try Self.insist(EVP_PKEY_generate(context, &made))
        guard let made else { throw Refused() }
        key = made
    }

    deinit { EVP_PKEY_free(key) }

    func number(_ name: String) throws -> Data {
        var number: OpaquePointer?
        try Self.insist(EVP_PKEY_get_bn_param(key, name, &number))
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: (Int(BN_num_bits(number)) + 7) / 8)
        BN_bn2bin(number, &bytes)
        return Data(bytes)
    }

    func octets(_ name: String) throws -> Data {
        var (bytes, count) = ([UInt8](repeating: 0, count: 200), 0)
        try Self.insist(EVP_PKEY_get_octet_string_param(key, name, &bytes, bytes.count, &count))
        return Data(bytes.prefix(count))
    }

    /// The public key with its algorithm, in DER.
    func info() throws -> Data {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(key, &bytes)
        guard let bytes, count > 0 else { throw Refused() }
        defer { CRYPTO_free(bytes, #file, #line) }
        return Data(bytes: bytes, count: Int(count))
    }

    /// Signs as JSON Web Signature writes it, with SHA-256 unless the key has a digest of its own.
    func sign(_ bytes: Data, padding: Int32? = nil) throws -> Data {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var options: OpaquePointer?
        let isEd25519 = EVP_PKEY_is_a(key, "ED25519") == 1
        try Self.insist(
            EVP_DigestSignInit(context, &options, isEd25519 ? nil : EVP_sha256(), nil, key))
        if let padding { try Self.insist(EVP_PKEY_CTX_set_rsa_padding(options, padding)) }
        if padding == RSA_PKCS1_PSS_PADDING {
            try Self.insist(EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST))
        }
        var (signature, count) = ([UInt8](repeating: 0, count: 1024), 1024)
        try Self.insist(EVP_DigestSign(context, &signature, &count, Array(bytes), bytes.count))
        guard EVP_PKEY_is_a(key, "EC") == 1 else { return Data(signature.prefix(count)) }
        // OpenSSL writes two numbers in DER; JSON Web Signature wants 32 bytes of each.
        return try Self.numbers(signature).map { number in
            Data(repeating: 0, count: 32 - number.count) + number
        }.reduce(Data(), +)
    }

    /// The two numbers of a short DER sequence, without leading zeros.
    private static func numbers(_ bytes: [UInt8]) throws -> [Data] {
        let first = Int(bytes[3])
        let second = Int(bytes[5 + first])
        return [bytes[4..<4 + first], bytes[6 + first..<6 + first + second]]
            .map { Data($0.drop { $0 == 0 }) }
    }

    /// OpenSSL refused a call.
    private struct Refused: Error {}

    private static func insist(_ result: Int32) throws {
        guard result == 1 else { throw Refused() }
    }
}

extension Data {
    var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
