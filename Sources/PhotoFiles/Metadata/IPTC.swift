import Edits

/// IPTC records (IIM 4) and the Photoshop block that contains them in a JPEG.
///
/// Source: Adobe Photoshop File Formats, "Image Resource Blocks"; IIM 4.2 §1.6 for the records. The other resources of the block
/// describe the original (a thumbnail, its resolution) and are dropped, but for paths (``PhotoshopPaths``) and the digest of the records,
/// by which readers know whether XMP or the records are newer (Metadata Working Group, Guidelines 2.0 §3.3).
public struct IPTC: Sendable, Equatable {
    public let records: [UInt8]
    /// The MD5 of the records at the time at which the XMP was written from them; nil if none is stated.
    public let digest: [UInt8]?

    static let header = Array("Photoshop 3.0\0".utf8)
    private static let signature = Array("8BIM".utf8)
    private static let recordsID = 0x0404
    private static let digestID = 0x0425
    private static let digestBytes = 16
    private static let recordMark: UInt8 = 0x1C

    public init(records: [UInt8], digest: [UInt8]? = nil) {
        (self.records, self.digest) = (records, digest)
    }

    /// Reads a block of a JPEG, resources without its header, or bare records; nil if there are no records.
    ///
    /// - Parameter resources: further resources, in which the digest may be: those of a TIFF.
    public init?(_ bytes: [UInt8], resources: [UInt8]? = nil) {
        if bytes.first == Self.recordMark {
            self.init(
                records: bytes,
                digest: resources.flatMap { Self.resources(in: $0)[Self.digestID] }
                    .flatMap(Self.digest))
            return
        }
        let found = Self.resources(in: bytes)
        guard let records = found[Self.recordsID], !records.isEmpty else { return nil }
        self.init(records: Array(records), digest: found[Self.digestID].flatMap(Self.digest))
    }

    private static func digest(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        bytes.count == digestBytes ? Array(bytes) : nil
    }

    /// Returns the first resource of each kind, up to a damaged one.
    private static func resources(in bytes: [UInt8]) -> [Int: ArraySlice<UInt8>] {
        var found: [Int: ArraySlice<UInt8>] = [:]
        for resource in resources(of: bytes) where found[resource.id] == nil {
            found[resource.id] = bytes[resource.content]
        }
        return found
    }

    /// Returns the places of all resources, up to a damaged one.
    static func resources(
        of bytes: [UInt8]
    ) -> [(id: Int, content: Range<Int>, whole: Range<Int>)] {
        var found: [(id: Int, content: Range<Int>, whole: Range<Int>)] = []
        var offset = bytes.starts(with: header) ? header.count : 0
        while offset + 12 <= bytes.count, bytes[offset..<offset + 4].elementsEqual(signature) {
            let id = Int(bytes[offset + 4]) << 8 | Int(bytes[offset + 5])
            // A name preceded by its length, padded to an even length.
            let size = offset + 6 + (Int(bytes[offset + 6]) + 2) / 2 * 2
            guard size + 4 <= bytes.count else { break }
            let length = bytes[size..<size + 4].reduce(0) { $0 << 8 | Int($1) }
            let start = size + 4
            guard length <= bytes.count - start else { break }
            let end = min(start + (length + 1) / 2 * 2, bytes.count)
            found.append((id, start..<start + length, offset..<end))
            offset = end
        }
        return found
    }

    /// The content of a JPEG's segment: the records, and their digest.
    public var photoshopBlock: [UInt8] { Self.header + resources }

    /// The two resources.
    var resources: [UInt8] { Self.resource(Self.recordsID, records) + (digestResource ?? []) }

    /// Returns a block whose other resources stay as they are.
    func replacing(in block: [UInt8]) -> [UInt8] {
        var offset = block.starts(with: Self.header) ? Self.header.count : 0
        var result = Array(block[..<offset])
        var isWritten = false
        for resource in Self.resources(of: block) {
            switch resource.id {
            case Self.recordsID where !isWritten:
                result += resources
                isWritten = true
            case Self.recordsID, Self.digestID: break
            default: result += block[resource.whole]
            }
            offset = resource.whole.upperBound
        }
        return result + block[offset...]
    }

    /// The resource with the digest alone, as a TIFF has it beside the records; nil for none.
    public var digestResource: [UInt8]? { digest.map { Self.resource(Self.digestID, $0) } }

    private static func resource(_ id: Int, _ content: [UInt8]) -> [UInt8] {
        let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: content.count >> $0) }
        let padding: [UInt8] = content.count % 2 == 0 ? [] : [0]
        return signature + [UInt8(id >> 8), UInt8(id & 0xFF), 0, 0] + length + content + padding
    }

    /// Whether the records were changed after the XMP was written from them.
    var isNewerThanXMP: Bool { digest.map { $0 != Self.md5(records) } ?? false }

    static func md5(_ bytes: [UInt8]) -> [UInt8] { Array(MD5.hash(data: bytes)) }
}
