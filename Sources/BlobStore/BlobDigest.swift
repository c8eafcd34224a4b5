public import Crypto

/// A SHA-256 of an object's bytes.
public struct BlobDigest: Sendable, Hashable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// The digest that Crypto has computed.
    public init(_ digest: SHA256.Digest) {
        bytes = Array(digest)
    }

    /// The digest of bytes in memory.
    public init(of bytes: some Sequence<UInt8>) {
        var hash = SHA256()
        hash.update(data: Array(bytes))
        self.init(hash.finalize())
    }

    /// Reads 64 hexadecimal digits; nil for anything else.
    public init?(hex text: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Reads the 44 characters of `x-amz-checksum-sha256`; nil for anything else.
    ///
    /// A composite checksum, `…=-3`, is one of checksums and not of the object: nil.
    init?(base64 text: String) {
        guard let bytes = Base64.decoded(text), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// 64 small hexadecimal digits.
    public var hex: String { bytes.hex }

    /// As `x-amz-checksum-sha256` has it.
    var base64: String { Base64.encoded(bytes) }

    /// The hexadecimal digits.
    public var description: String { hex }
}
