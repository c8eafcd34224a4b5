import Edits
import FoundationEssentials

/// A SHA-256 of an object's bytes.
public struct BlobDigest: Sendable, Hashable, CustomStringConvertible {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) {
        precondition(bytes.count == SHA256.byteCount)
        self.bytes = bytes
    }

    public init(of bytes: some Sequence<UInt8>) { self.init(SHA256.hash(data: bytes)) }

    /// Parses 64 hexadecimal digits; nil for anything else.
    public init?(hex text: String) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Parses the 44 characters of `x-amz-checksum-sha256`; nil for anything else.
    ///
    /// It returns nil for a composite checksum, `…=-3`, which is a checksum of checksums and not
    /// of the object.
    init?(base64 text: String) {
        // Not canonical, as with nonzero unused bits: both encode to another text.
        guard let data = Data(base64Encoded: text), data.count == SHA256.byteCount,
            data.base64EncodedString() == text
        else { return nil }
        bytes = Array(data)
    }

    public var hex: String { bytes.hex }

    /// The digest as in `x-amz-checksum-sha256`.
    var base64: String { Data(bytes).base64EncodedString() }

    public var description: String { hex }
}
