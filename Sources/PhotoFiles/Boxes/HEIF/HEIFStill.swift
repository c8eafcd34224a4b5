/// The photo of a HEIF that is coded as HEVC: its picture, placement, alpha, and the meaning of its codes.
public struct HEIFStill: Sendable, Equatable {
    public let picture: HEIFPicture
    public private(set) var placement: HEIFPlacement
    /// A picture of the same size whose luma is alpha.
    public let alpha: HEIFPicture?
    /// Whether codes of red, green and blue were multiplied by alpha (`prem`, ISO/IEC 23008-12 §6.10.1).
    public let isPremultiplied: Bool
    /// The colour of the primary item, or of the first tile of its grid.
    public let colour: HEIFProperty.CodedColour?
    /// The ICC profile, from the same property.
    public let profile: [UInt8]?
    /// EXIF as a TIFF structure.
    public let exif: [UInt8]?
    public let xmp: [UInt8]?
    /// The number of pictures in the file that are meant to be displayed.
    public let pictures: Int

    /// Returns whether the photo of a file is coded as AV1, which this type does not read.
    public static func isAV1(_ meta: HEIFMeta) -> Bool {
        guard let primary = meta.primary else { return false }
        let ids = [primary] + meta.items(from: primary, by: "dimg").prefix(1)
        return ids.contains { meta.items[$0]?.type == "av01" }
    }

    /// Reads boxes, EXIF and XMP of the photo, but no pixels.
    public init(_ meta: HEIFMeta, in file: inout FileWindow) throws(HEIFProblem) {
        guard let primary = meta.primary else {
            throw meta.isWhole
                ? .unsupported("the file names no still picture")
                : .damaged("the list of pictures is cut off")
        }
        try self.init(item: primary, of: meta, in: &file)
    }

    /// Reads another picture of the file, such as a gain map.
    public init(item: Int, of meta: HEIFMeta, in file: inout FileWindow) throws(HEIFProblem) {
        picture = try HEIFPicture(item: item, of: meta, in: &file)
        placement = try Self.placement(of: item, picture, meta)
        let found = Self.alpha(of: item, meta)
        alpha = if let found { try Self.alpha(found, of: picture, meta, &file) } else { nil }
        isPremultiplied = found.map { meta.items(from: item, by: "prem").contains($0) } ?? false
        let sources = [item] + meta.items(from: item, by: "dimg").prefix(1)
        (colour, profile) = Self.colours(of: sources, meta)
        let about = meta.items(to: item, by: "cdsc")
        exif = Self.exif(of: about, meta, &file)
        xmp = Self.xmp(of: item, meta, in: &file)
        pictures = 1 + Self.otherPictures(of: meta)
    }

    /// Returns the photo in another orientation: rows become columns, then left and right are swapped, then top and bottom.
    public func turned(transposes: Bool, mirrors: Bool, flips: Bool) -> HEIFStill {
        var still = self
        still.placement = placement.turned(
            transposes: transposes, mirrors: mirrors, flips: flips)
        return still
    }

    /// Returns the picture without the part that another picture crops, in proportion.
    ///
    /// - Parameter other: of any size; this picture must not be cropped.
    public func cut(like other: HEIFStill) -> HEIFStill {
        var still = self
        still.placement.cut(
            like: other.placement, of: (other.picture.width, other.picture.height))
        return still
    }

    private static func placement(of item: Int, _ picture: HEIFPicture, _ meta: HEIFMeta)
        throws(HEIFProblem) -> HEIFPlacement
    {
        var placement = HEIFPlacement(width: picture.width, height: picture.height)
        for property in meta.properties(of: item) {
            switch property {
            case .rotation(let turns): placement.rotate(quarterTurns: turns)
            case .mirror(let isAcross): placement.mirror(swapsLeftAndRight: isAcross)
            case .other("clap", let content):
                guard let aperture = CleanAperture(content), placement.crop(to: aperture) else {
                    throw .damaged("the visible area of the picture is empty (clap)")
                }
            default: break
            }
        }
        return placement
    }

    private static let alphaNames = [
        "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
    ]

    private static func alpha(of item: Int, _ meta: HEIFMeta) -> Int? {
        meta.items(to: item, by: "auxl").first { id in
            meta.properties(of: id).contains { property in
                if case .auxiliary(let name) = property { return alphaNames.contains(name) }
                return false
            }
        }
    }

    private static func alpha(
        _ item: Int, of picture: HEIFPicture, _ meta: HEIFMeta, _ file: inout FileWindow
    ) throws(HEIFProblem) -> HEIFPicture {
        let alpha = try HEIFPicture(item: item, of: meta, in: &file)
        guard (alpha.width, alpha.height) == (picture.width, picture.height) else {
            throw .unsupported(
                "alpha has \(alpha.width) × \(alpha.height) pixels, the picture \(picture.width) × "
                    + "\(picture.height)")
        }
        return alpha
    }

    private static func colours(of sources: [Int], _ meta: HEIFMeta) -> (
        HEIFProperty.CodedColour?, [UInt8]?
    ) {
        var colour: HEIFProperty.CodedColour?
        var profile: [UInt8]?
        for item in sources where colour == nil && profile == nil {
            for property in meta.properties(of: item) {
                switch property {
                case .codedColour(let found): colour = colour ?? found
                case .profile(let found): profile = profile ?? Array(found)
                default: break
                }
            }
        }
        return (colour, profile)
    }

    /// Returns the XMP packet of an item, whatever it is coded by.
    public static func xmp(
        of item: Int, _ meta: HEIFMeta, in file: inout FileWindow
    ) -> [UInt8]? {
        meta.items(to: item, by: "cdsc")
            .first { meta.items[$0]?.contentType == "application/rdf+xml" }
            .flatMap { meta.bytes(of: $0, in: &file) }
    }

    /// Returns the EXIF of an item, whatever it is coded by.
    public static func exif(
        of item: Int, _ meta: HEIFMeta, in file: inout FileWindow
    ) -> [UInt8]? {
        exif(of: meta.items(to: item, by: "cdsc"), meta, &file)
    }

    /// Reads an item `Exif`, which begins with the number of bytes before the TIFF structure (ISO/IEC 23008-12 §A.2.1).
    private static func exif(of about: [Int], _ meta: HEIFMeta, _ file: inout FileWindow)
        -> [UInt8]?
    {
        guard let item = about.first(where: { meta.items[$0]?.type == "Exif" }),
            let bytes = meta.bytes(of: item, in: &file)
        else { return nil }
        var cursor = ByteCursor(bytes[...])
        guard let offset = cursor.number(4), cursor.bytes(offset) != nil, !cursor.isAtEnd else {
            return nil
        }
        return Array(cursor.rest)
    }

    /// Counts the items beside the primary one that are not hidden, and are neither tiles, thumbnails nor auxiliary pictures of
    /// others.
    public static func otherPictures(of meta: HEIFMeta) -> Int {
        let kinds: Set = ["hvc1", "av01", "grid", "iden", "iovl"]
        let parts = Set(
            meta.references.flatMap { reference -> [Int] in
                switch reference.type {
                case "dimg": reference.to
                case "thmb", "auxl": [reference.from]
                default: []
                }
            })
        return meta.items.values.count { item in
            item.id != meta.primary && kinds.contains(item.type) && !item.isHidden
                && !parts.contains(item.id)
        }
    }
}

/// The reason why a picture of a HEIF cannot be read.
public struct HEIFProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable {
        /// The boxes contradict each other, or declare bytes that the file does not have.
        case damaged
        case unsupported
    }

    public let kind: Kind
    public let description: String

    public static func damaged(_ text: String) -> HEIFProblem {
        HEIFProblem(kind: .damaged, description: text)
    }

    public static func unsupported(_ text: String) -> HEIFProblem {
        HEIFProblem(kind: .unsupported, description: text)
    }
}

/// The facts about a stream in the box `hvcC`, which are known before decoding.
///
/// Source: ISO/IEC 14496-15 §8.3.3.1.
public struct HEVCConfiguration: Sendable, Equatable {
    public let bytes: [UInt8]
    /// 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
    public let chromaFormat: Int
    public let lumaBits: Int, chromaBits: Int

    /// Most bytes; phones write 100.
    public static let bytesMax = 64 << 10

    /// Nil if it is too short, too long, or of a later version.
    public init?(_ content: ArraySlice<UInt8>) {
        guard (23...Self.bytesMax).contains(content.count), content.first == 1 else { return nil }
        bytes = Array(content)
        chromaFormat = Int(bytes[16] & 3)
        lumaBits = Int(bytes[17] & 7) + 8
        chromaBits = Int(bytes[18] & 7) + 8
    }

    /// Returns whether a configuration has the message of a layer of alpha (ITU-T H.265 §F.14.2.8: payload 165 of a prefix SEI).
    static func hasAlphaLayer(_ content: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(content)
        guard bytes.count > 23 else { return false }
        var offset = 23
        for _ in 0..<bytes[22] {
            guard offset + 3 <= bytes.count else { return false }
            let isPrefix = bytes[offset] & 0x3F == 39
            let count = Int(bytes[offset + 1]) << 8 + Int(bytes[offset + 2])
            offset += 3
            for _ in 0..<count {
                guard offset + 2 <= bytes.count else { return false }
                let length = Int(bytes[offset]) << 8 + Int(bytes[offset + 1])
                // Two bytes of a header precede the payload's type.
                if isPrefix, length > 3, offset + 4 < bytes.count, bytes[offset + 4] == 165 {
                    return true
                }
                offset += 2 + length
            }
        }
        return false
    }
}
