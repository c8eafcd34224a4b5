/// The codec of a video track's samples: the sample description of an encoder.
public struct SampleEntry: Sendable, Equatable {
    /// `avc1`, `hvc1` …
    public var format: BoxType
    /// The type of the box with the codec's parameter sets, `avcC` or `hvcC`, and its content.
    public var configuration: (type: BoxType, content: [UInt8])
    /// The size of the pictures; nil for no change.
    public var width: Int?, height: Int?

    public init(
        format: BoxType, configuration: (type: BoxType, content: [UInt8]), width: Int? = nil,
        height: Int? = nil
    ) {
        (self.format, self.configuration) = (format, configuration)
        (self.width, self.height) = (width, height)
    }

    public static func == (a: SampleEntry, b: SampleEntry) -> Bool {
        a.format == b.format && a.configuration == b.configuration && a.width == b.width
            && a.height == b.height
    }

    /// Both sides, if they change.
    var size: (width: Int, height: Int)? {
        guard let width, let height else { return nil }
        return (width, height)
    }

    /// Bytes of an entry before its boxes: those of all entries, and those of visual entries (ISO/IEC 14496-12 §12.1.3).
    static let header = 86
    /// The offset of its width, which its height follows: two bytes each.
    static let sizeAt = 32
    private static let compressorName = 50..<82

    /// Boxes of the source's codec, which are invalid for another one, and of additions by its encoder: a second eye (`lhvC`,
    /// `vexu`, `hfov`), Dolby Vision, ambient light, bit rates.
    private static let dropped: Set<BoxType> = [
        "avcC", "hvcC", "lhvC", "av1C", "vpcC", "esds", "dvcC", "dvvC", "dvwC", "vexu", "hfov",
        "amve", "btrt", "glbl",
    ]

    /// Returns an entry without its boxes of a type. Bytes after the boxes stay, such as the zeros at the end of a QuickTime list.
    static func without(_ type: BoxType, _ entry: ArraySlice<UInt8>) -> [UInt8] {
        var kept = Array(entry.prefix(header))
        var rest = entry.dropFirst(header)
        while rest.count >= 8 {
            let length = rest.number(at: 0, 4)
            guard (8...rest.count).contains(length) else { break }
            if BoxType(UInt32(rest.number(at: 4, 4))) != type { kept += rest.prefix(length) }
            rest = rest.dropFirst(length)
        }
        kept += rest
        var length = ByteWriter()
        length.add(kept.count, 4)
        kept.replaceSubrange(0..<4, with: length.bytes)
        return kept
    }

    /// Returns the source's entry with this codec instead of its own. Colours, aperture and pixel aspect stay.
    func replacing(_ entry: ArraySlice<UInt8>) -> [UInt8] {
        var header = Array(entry.prefix(Self.header))
        header += [UInt8](repeating: 0, count: Self.header - header.count)
        if BoxType(UInt32(header.number(at: 4, 4))) != format {
            header.replaceSubrange(4..<8, with: format.bytes)
            for index in Self.compressorName { header[index] = 0 }
        }
        for (offset, side) in [(Self.sizeAt, width), (Self.sizeAt + 2, height)] {
            guard let side else { continue }
            header[offset] = UInt8(truncatingIfNeeded: side >> 8)
            header[offset + 1] = UInt8(truncatingIfNeeded: side)
        }
        var boxes = ByteWriter()
        boxes.box(configuration.type) { $0.add(configuration.content) }
        var rest = entry.dropFirst(Self.header)
        while rest.count >= 8 {
            let length = rest.number(at: 0, 4)
            guard (8...rest.count).contains(length) else { break }
            if !Self.dropped.contains(BoxType(UInt32(rest.number(at: 4, 4)))) {
                boxes.add(rest.prefix(length))
            }
            rest = rest.dropFirst(length)
        }
        boxes.add(rest)
        var whole = ByteWriter()
        whole.add(header.count + boxes.bytes.count, 4)
        whole.add(header.dropFirst(4))
        whole.add(boxes.bytes)
        return whole.bytes
    }
}

extension ByteWriter {
    /// Appends a box whose content the closure writes.
    mutating func box(_ type: BoxType, _ content: (inout ByteWriter) -> Void) {
        box(type.description, content)
    }
}
