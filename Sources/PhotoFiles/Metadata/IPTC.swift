/// IPTC records (IIM 4) and the Photoshop block that contains them in a JPEG.
///
/// Source: Adobe Photoshop File Formats, "Image Resource Blocks"; IIM 4.2 §1.6 for the records. The other resources of the block
/// describe the original (a thumbnail, paths, its resolution) and are dropped.
public enum IPTC {
    private static let header = Array("Photoshop 3.0\0".utf8)
    private static let signature = Array("8BIM".utf8)
    private static let recordsID = 0x0404
    private static let recordMark: UInt8 = 0x1C

    /// Returns the records, from a block of a JPEG, from resources without its header, or bare.
    ///
    /// - Returns: nil if there are none.
    public static func records(in bytes: [UInt8]) -> [UInt8]? {
        if bytes.first == recordMark { return bytes }
        var offset = bytes.starts(with: header) ? header.count : 0
        while offset + 12 <= bytes.count, Array(bytes[offset..<offset + 4]) == signature {
            let id = Int(bytes[offset + 4]) << 8 | Int(bytes[offset + 5])
            // A name preceded by its length, padded to an even length.
            let size = offset + 6 + (Int(bytes[offset + 6]) + 2) / 2 * 2
            guard size + 4 <= bytes.count else { return nil }
            let length = bytes[size..<size + 4].reduce(0) { $0 << 8 | Int($1) }
            let start = size + 4
            guard length <= bytes.count - start else { return nil }
            if id == recordsID { return length > 0 ? Array(bytes[start..<start + length]) : nil }
            offset = start + (length + 1) / 2 * 2
        }
        return nil
    }

    /// Returns the block of a JPEG with only the records.
    public static func photoshopBlock(_ records: [UInt8]) -> [UInt8] {
        let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: records.count >> $0) }
        let id = [UInt8(recordsID >> 8), UInt8(recordsID & 0xFF)]
        let padding: [UInt8] = records.count % 2 == 0 ? [] : [0]
        return header + signature + id + [0, 0] + length + records + padding
    }
}
