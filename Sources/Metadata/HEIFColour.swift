/// What the numbers of a HEIC or AVIF mean when no ICC profile says it.
///
/// Sources: ISO/IEC 14496-12 §4.2 (boxes), §12.1.5 (`colr` of type `nclx`), ISO/IEC 23008-12 §9.3 (`ipco`);
/// the codes are those of ITU-T H.273.
public struct HEIFColour: Sendable, Equatable {
    /// Which red, green and blue: 1 is BT.709 and sRGB, 12 is Display P3.
    public let primaries: Int
    /// Which curve: 13 is sRGB, 16 is PQ, 18 is HLG.
    public let transfer: Int

    /// Bytes from the beginning of a file in which the properties of its pictures stand.
    public static let bytesRead = 1 << 20
    /// Most boxes of one level that are looked at.
    private static let boxesMax = 10_000

    /// Makes a colour of two codes.
    public init(primaries: Int, transfer: Int) {
        self.primaries = primaries
        self.transfer = transfer
    }

    /// Reads the beginning of a file.
    ///
    /// - Returns: nil when there is an ICC profile, no such property, or several that differ: which
    ///   picture has which is then not looked into.
    public init?(_ bytes: [UInt8]) {
        // `meta` has a version before its boxes.
        guard let meta = Self.boxes(in: bytes[...])["meta"]?.first,
            let properties = Self.boxes(in: meta.dropFirst(4))["iprp"]?.first,
            let container = Self.boxes(in: properties)["ipco"]?.first
        else { return nil }
        let colours = Self.boxes(in: container)["colr"] ?? []
        let isCoded = colours.allSatisfy { $0.count >= 8 && $0.starts(with: Array("nclx".utf8)) }
        guard isCoded, let first = colours.first,
            colours.allSatisfy({ $0.prefix(8).elementsEqual(first.prefix(8)) })
        else { return nil }
        let codes = Array(first.dropFirst(4).prefix(4))
        primaries = Int(codes[0]) << 8 | Int(codes[1])
        transfer = Int(codes[2]) << 8 | Int(codes[3])
    }

    /// The contents of boxes by their type; what does not fit into the bytes is left out.
    private static func boxes(in bytes: ArraySlice<UInt8>) -> [String: [ArraySlice<UInt8>]] {
        var found: [String: [ArraySlice<UInt8>]] = [:]
        var place = bytes.startIndex
        for _ in 0..<boxesMax {
            guard bytes.endIndex - place >= 8 else { break }
            let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 8, length <= bytes.endIndex - place else { break }
            let type = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
            found[type, default: []].append(bytes[place + 8..<place + length])
            place += length
        }
        return found
    }
}
