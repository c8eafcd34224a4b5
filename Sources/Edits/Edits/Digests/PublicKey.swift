import COpenSSL

/// A public key that verifies signatures as JSON Web Signature writes them (RFC 7518 §3, RFC 8037 §3.1).
public final class PublicKey {
    /// An elliptic curve (RFC 7518 §6.2.1.1).
    public enum Curve: String, Sendable {
        case p256 = "P-256"
        case p384 = "P-384"
        case p521 = "P-521"

        /// The number of bytes of a coordinate.
        var byteCount: Int {
            switch self {
            case .p256: 32
            case .p384: 48
            case .p521: 66
            }
        }

        /// The object identifier of the curve, in DER (RFC 5480 §2.1.1.1).
        fileprivate var identifier: [UInt8] {
            switch self {
            case .p256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
            case .p384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
            case .p521: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
            }
        }
    }

    /// The digest that is signed.
    public enum Hash: Sendable {
        case sha256, sha384, sha512

        fileprivate var algorithm: OpaquePointer? {
            switch self {
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        }
    }

    /// How RSA pads the digest (RFC 8017 §8).
    public enum Padding: Sendable { case pkcs1, pss }

    private enum Kind { case rsa, curve(Curve), ed25519 }

    private let key: OpaquePointer
    private let kind: Kind

    /// The shortest modulus of RSA in bits (RFC 7518 §3.3).
    public static let modulusBitsMin = 2048
    /// The longest one. A verification takes time with the square of its length.
    public static let modulusBitsMax = 8192

    private init(_ key: OpaquePointer, _ kind: Kind) { (self.key, self.kind) = (key, kind) }

    /// The longest exponent in bits. Usual ones have 17; a long one makes a verification slow.
    public static let exponentBitsMax = 33

    /// An RSA key of its modulus and exponent, most significant byte first; nil if it is none, or too short or long.
    ///
    /// OpenSSL takes an exponent of 1, with which everybody can sign, and even numbers, which belong to no key.
    public static func rsa(modulus: [UInt8], exponent: [UInt8]) -> PublicKey? {
        let digits = exponent.drop { $0 == 0 }
        let exponentBits = 8 * digits.count - (digits.first?.leadingZeroBitCount ?? 0)
        guard (2...exponentBitsMax).contains(exponentBits), let last = digits.last,
            last % 2 == 1, (modulus.last ?? 0) % 2 == 1
        else { return nil }
        // rsaEncryption, without parameters (RFC 8017, A.1).
        let algorithm: [UInt8] = [
            0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        let numbers = DER.sequence(DER.integer(modulus) + DER.integer(exponent))
        guard let key = read(algorithm, numbers) else { return nil }
        let bits = Int(EVP_PKEY_get_bits(key))
        guard (modulusBitsMin...modulusBitsMax).contains(bits) else {
            EVP_PKEY_free(key)
            return nil
        }
        return PublicKey(key, .rsa)
    }

    /// A point of a curve; nil if it is none.
    public static func point(of curve: Curve, x: [UInt8], y: [UInt8]) -> PublicKey? {
        guard x.count == curve.byteCount, y.count == curve.byteCount else { return nil }
        // id-ecPublicKey (RFC 5480 §2.1.1), and an uncompressed point (SEC 1 §2.3.3).
        let algorithm: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
        return read(algorithm + curve.identifier, [0x04] + x + y)
            .map { PublicKey($0, .curve(curve)) }
    }

    /// A key of Ed25519 (RFC 8032); nil if it has not 32 bytes, or is one of the few points with which everybody can sign.
    public static func ed25519(_ bytes: [UInt8]) -> PublicKey? {
        guard bytes.count == 32, !hasSmallOrder(bytes) else { return nil }
        return read([0x06, 0x03, 0x2B, 0x65, 0x70], bytes).map { PublicKey($0, .ed25519) }
    }

    /// Whether eight times the point is the neutral element, however it is written (RFC 7748 §7: such points are no keys).
    private static func hasSmallOrder(_ point: [UInt8]) -> Bool {
        // y of the points, little-endian: 0, 1, p − 1, both of order 8, and p and p + 1, which stand for 0 and 1. The last bit
        // is the sign of x.
        let ends: (UInt8) -> [UInt8] = { [$0] + [UInt8](repeating: 0xFF, count: 30) + [0x7F] }
        let starts: (UInt8) -> [UInt8] = { [$0] + [UInt8](repeating: 0, count: 31) }
        let ofOrder8: [[UInt8]] = [
            [
                0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF,
                0x98, 0xF0, 0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88,
                0x6D, 0x53, 0xFC, 0x05,
            ],
            [
                0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10,
                0x67, 0x0F, 0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77,
                0x92, 0xAC, 0x03, 0x7A,
            ],
        ]
        let all = [starts(0), starts(1), ends(0xEC), ends(0xED), ends(0xEE)] + ofOrder8
        return all.contains(Array(point.dropLast()) + [point[31] & 0x7F])
    }

    /// Reads a key from its algorithm and bits, as X.509 has them (RFC 5280 §4.1.2.7).
    private static func read(_ algorithm: [UInt8], _ bits: [UInt8]) -> OpaquePointer? {
        let info = DER.sequence(DER.sequence(algorithm) + DER.bits(bits))
        let key = info.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_PUBKEY(nil, &next, bytes.count)
        }
        if key == nil { ERR_clear_error() }
        return key
    }

    deinit { EVP_PKEY_free(key) }

    /// Returns whether the holder of the private key signed exactly these bytes.
    ///
    /// - Parameters:
    ///   - hash: the digest; Ed25519 has its own.
    ///   - padding: for RSA. The salt of PSS is as long as the digest (RFC 7518 §3.5).
    public func verifies(
        _ signature: [UInt8], of message: [UInt8], hash: Hash = .sha256, padding: Padding = .pkcs1
    ) -> Bool {
        var signature = signature
        var algorithm = hash.algorithm
        switch kind {
        case .rsa: break
        case .curve(let curve):
            // JSON Web Signature has the two numbers side by side, OpenSSL wants them in DER (RFC 3279 §2.2.3).
            guard signature.count == 2 * curve.byteCount else { return false }
            signature = DER.sequence(
                DER.integer(Array(signature.prefix(curve.byteCount)))
                    + DER.integer(Array(signature.suffix(curve.byteCount))))
        case .ed25519: algorithm = nil
        }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            // A signature that is not genuine leaves an entry in the thread's queue of errors.
            ERR_clear_error()
        }
        var options: OpaquePointer?
        guard EVP_DigestVerifyInit(context, &options, algorithm, nil, key) == 1 else {
            return false
        }
        if case .rsa = kind, padding == .pss {
            guard EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) == 1
            else { return false }
        }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

/// The few forms of DER (X.690) that a key and a signature need.
private enum DER {
    static func sequence(_ content: [UInt8]) -> [UInt8] { value(0x30, content) }

    /// A bit string of whole bytes.
    static func bits(_ content: [UInt8]) -> [UInt8] { value(0x03, [0] + content) }

    /// A number that is not negative, most significant byte first.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return value(0x02, digits)
    }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length = [UInt8(truncatingIfNeeded: content.count)]
        if content.count >= 0x80 {
            length = withUnsafeBytes(of: UInt32(content.count).bigEndian) { Array($0) }
            length = Array(length.drop { $0 == 0 })
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + content
    }
}
