public import Edits

/// The contents of a HEIF beside the photo: items that refer to the primary one, and a video after them.
public struct HEIFCompanions: Sendable, Equatable {
    /// The gain map; nil if there is none, or none that is readable.
    public private(set) var map: GainMap?
    /// The video of a motion photo; nil if there is none, or none that is readable.
    public private(set) var video: MotionVideo?
    public private(set) var others: Set<Companion> = []
    /// The reason why something that the file declares as a gain map is invalid; nil if there is no error.
    public private(set) var damage: String?
    /// The reason why the video that the photo has or declares is not readable; nil if there is no error.
    public private(set) var videoDamage: String?
    /// Whether the photo declares a video that the file does not have.
    public private(set) var hasFalseClaims = false

    /// The items of a gain map.
    struct Items: Equatable {
        let picture: Int
        /// The item `tmap` whose data are the metadata of ISO 21496-1; nil for maps with only Apple's or Samsung's metadata.
        let toneMap: Int?
    }

    /// Searches the items and the boxes of a file.
    ///
    /// - Parameter xmp: the photo's packet; nil without one.
    public init(_ meta: HEIFMeta, xmp: [UInt8]? = nil, in file: inout FileWindow) {
        guard let primary = meta.primary else { return }
        for item in meta.items(to: primary, by: "auxl") {
            for case .auxiliary(let urn) in meta.properties(of: item) {
                if let companion = Companion(auxiliary: urn) { others.insert(companion) }
            }
        }
        if meta.groups.contains(where: { $0.type == "ster" }) {
            others.insert(.secondEye)
        } else if HEIFStill.otherPictures(of: meta) > 0 {
            others.insert(.otherPictures)
        }
        // The track of a sequence of pictures, which a file may have beside its still one (ISO/IEC 23008-12 §7).
        if file.firstBox("moov", in: 0..<file.length) != nil { others.insert(.frames) }
        readVideo(xmp ?? [], &file)
        guard let items = Self.mapItems(of: meta, primary) else { return }
        do {
            map = try Self.map(items, meta, primary, &file)
        } catch {
            damage = error.description
        }
    }

    static func mapItems(of meta: HEIFMeta, _ primary: Int) -> Items? {
        // ISO/IEC 23008-12:2025 §6.6.2.4: a tone map is derived from the base and the map, in this order.
        for (id, item) in meta.items.sorted(by: { $0.key < $1.key }) where item.type == "tmap" {
            let inputs = meta.items(from: id, by: "dimg")
            if inputs.count == 2, inputs[0] == primary, inputs[1] != primary,
                meta.items[inputs[1]] != nil
            {
                return Items(picture: inputs[1], toneMap: id)
            }
        }
        // The URNs of Apple and Samsung differ before this suffix.
        let map = meta.items(to: primary, by: "auxl").sorted().first { item in
            meta.properties(of: item).contains { property in
                if case .auxiliary(let urn) = property { return urn.hasSuffix(":aux:hdrgainmap") }
                return false
            }
        }
        return map.map { Items(picture: $0, toneMap: nil) }
    }

    /// Reads the metadata of a map: `tmap` first, then Adobe's properties, then Apple's.
    private static func map(
        _ items: Items, _ meta: HEIFMeta, _ primary: Int, _ file: inout FileWindow
    ) throws(HEIFProblem) -> GainMap {
        guard meta.items[items.picture]?.type != "av01", !HEIFStill.isAV1(meta) else {
            throw .unsupported("that of an AVIF is not read")
        }
        let base = try HEIFStill(item: primary, of: meta, in: &file)
        let still = try HEIFStill(gainMap: items.picture, of: base, meta, in: &file)
        guard still.alpha == nil else { throw .unsupported("it has alpha") }
        guard base.placement.turnsLike(still.placement) else {
            throw .unsupported("it is turned another way than the photo")
        }
        let (width, height) = (still.placement.width, still.placement.height)
        let across = Double(width) / Double(base.placement.width)
        let down = Double(height) / Double(base.placement.height)
        guard abs(across / down - 1) <= Self.stretchMax || abs(width - height) <= 1 else {
            throw .unsupported("its \(width)×\(height) pixels have another shape than the photo")
        }
        let packet = still.xmp ?? []
        let apple = AppleGainMap(xmp: packet, exif: base.exif)
        let stated =
            items.toneMap.flatMap { meta.bytes(of: $0, in: &file) }
            .flatMap { GainMapMetadata(tmap: $0) } ?? GainMapMetadata(hdrgm: packet)
        guard let metadata = stated ?? apple?.metadata else {
            throw .damaged(
                "the meaning of its codes is unknown: neither tmap, hdrgm nor Apple's XMP and MakerNote have a "
                    + "headroom that makes sense"
            )
        }
        return GainMap(
            location: .item(items.picture), width: width, height: height,
            components: still.picture.configuration.chromaFormat == 0 ? 1 : 3, metadata: metadata,
            codes: stated == nil ? apple?.isoCodes : nil)
    }

    /// The allowed difference between the proportions of photo and map, for whole pixels of small maps.
    private static let stretchMax = 0.02

    // MARK: Video

    /// Finds the video of a motion photo: it is in a box after the items, `mpvd` (Motion Photo 1.0 §"HEIC"), or in Samsung's
    /// `sefd`, which ends with a directory of names.
    private mutating func readVideo(_ packet: [UInt8], _ file: inout FileWindow) {
        for box in file.boxes(in: 0..<file.length, atMost: Self.boxesMax) {
            switch box.type {
            case "mpvd" where !box.content.isEmpty:
                others.insert(.motionVideo)
                video =
                    video
                    ?? MotionVideo(
                        at: box.content.lowerBound, before: box.content.upperBound, packet, &file)
            case "sefd":
                let end = file.all(box.content.suffix(Self.directoryMax))
                if end.firstRange(of: Array("MotionPhoto_Data".utf8)) != nil {
                    others.insert(.motionVideo)
                }
                if let range = SamsungTrailer(endingAt: box.content.upperBound, &file)?.motionVideo
                {
                    others.insert(.motionVideo)
                    video =
                        video
                        ?? MotionVideo(
                            at: range.lowerBound, before: range.upperBound, packet, &file)
                }
            default: break
            }
        }
        guard video == nil else { return }
        if others.contains(.motionVideo) {
            videoDamage = "what the file has as a video is no movie"
        } else if MotionVideo.Claims(packet).isMotionPhoto {
            hasFalseClaims = true
            videoDamage =
                "the photo declares a video, but there is none where it should be"
        }
    }

    /// Most boxes of a file that are read; phones write 3 to 6.
    private static let boxesMax = 64
    /// Most bytes of Samsung's directory that are read.
    private static let directoryMax = 16 << 10
}

extension HEIFPlacement {
    /// Whether it turns a picture in the same way as another one, regardless of the size.
    fileprivate func turnsLike(_ other: HEIFPlacement) -> Bool {
        transposes == other.transposes && flipsColumns == other.flipsColumns
            && flipsRows == other.flipsRows
    }
}

/// The blocks of data that Samsung's phones write after a JPEG, or in the box `sefd` of a HEIC; for a motion photo, the video.
///
/// From the end: `SEFT`, preceded by the length of a directory. The directory is `SEFH`, a version, the number of blocks, and for
/// each block its type, its distance before the directory, and its length. A block has its type, the length of its name, the name,
/// and the data. Numbers are little-endian. Source: ExifTool's description of the trailer, compared with files.
struct SamsungTrailer {
    /// The byte ranges of the blocks' data, by name.
    private(set) var blocks: [String: Range<Int>] = [:]

    /// Most blocks that are read; phones write 2 to 12.
    private static let blocksMax = 64
    /// Most bytes of a name.
    private static let nameMax = 64
    private static let entryBytes = 12

    /// Reads a trailer that ends at an offset; nil if there is none.
    init?(endingAt end: Int, _ file: inout FileWindow) {
        guard end >= 20, file.has("SEFT", at: end - 4), let length = file.little(end - 8, 4),
            length >= 12, length <= end - 8
        else { return nil }
        let directory = end - 8 - length
        guard file.has("SEFH", at: directory), let count = file.little(directory + 8, 4) else {
            return nil
        }
        for index in 0..<min(count, Self.blocksMax, (length - 12) / Self.entryBytes) {
            let entry = directory + 12 + Self.entryBytes * index
            guard let distance = file.little(entry + 4, 4), let size = file.little(entry + 8, 4),
                distance <= directory, size <= distance
            else { continue }
            let block = directory - distance
            guard let nameLength = file.little(block + 4, 4), nameLength <= Self.nameMax,
                8 + nameLength <= size
            else { continue }
            let name = String(decoding: file.all(block + 8..<block + 8 + nameLength), as: UTF8.self)
            blocks[name] = block + 8 + nameLength..<block + size
        }
    }

    /// The data of a motion photo's video; nil without one.
    var motionVideo: Range<Int>? { blocks["MotionPhoto_Data"] }
}

/// The files that follow a photo in its file, as declared in the photo's XMP: a gain map, a video.
///
/// Sources: Ultra HDR 1.1 §"XMP", Google's "Motion Photo format 1.0". Lengths count only these files: readers count from the end of
/// the photo's file.
public struct Attachments: Sendable, Equatable {
    /// Bytes of a gain map's JPEG; nil without one, and in a HEIC, which stores the map as an item.
    public var mapBytes: Int?
    public var video: Video?
    public let photoType: String

    /// A video to be written.
    public struct Video: Sendable, Equatable {
        public let bytes: Int
        public let type: String
        public let claims: MotionVideo.Claims

        public init(bytes: Int, type: String, claims: MotionVideo.Claims) {
            (self.bytes, self.type, self.claims) = (bytes, type, claims)
        }
    }

    /// Creates the list of files that follow a photo.
    public init(mapBytes: Int? = nil, video: Video? = nil, photoType: String = "image/jpeg") {
        (self.mapBytes, self.video, self.photoType) = (mapBytes, video, photoType)
    }

    /// The `rdf:Description` of the photo's XMP.
    public var description: String {
        var spaces: [String] = []
        var marks: [String] = []
        if mapBytes != nil {
            spaces.append(#"xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/""#)
            marks.append(#"hdrgm:Version="1.0""#)
        }
        spaces += [
            #"xmlns:Container="http://ns.google.com/photos/1.0/container/""#,
            #"xmlns:Item="http://ns.google.com/photos/1.0/container/item/""#,
        ]
        if let video {
            spaces.append(#"xmlns:GCamera="http://ns.google.com/photos/1.0/camera/""#)
            marks += video.marks
        }
        let attributes = (spaces + marks).joined(separator: " ")
        let list = items.map {
            #"<rdf:li rdf:parseType="Resource"><Container:Item \#($0)/></rdf:li>"#
        }.joined()
        return """
            <rdf:Description rdf:about="" \(attributes)>\
            <Container:Directory><rdf:Seq>\(list)</rdf:Seq></Container:Directory></rdf:Description>
            """
    }

    /// The attributes of the directory's items: the photo and the files that follow it, in file order.
    private var items: [String] {
        func item(_ semantic: String, _ type: String) -> String {
            #"Item:Semantic="\#(semantic)" Item:Mime="\#(type)""#
        }
        var photo = item("Primary", photoType)
        // In a HEIC, the header of the video's box precedes the video.
        if video != nil, photoType != "image/jpeg" {
            photo += #" Item:Length="0" Item:Padding="\#(Self.boxHeaderBytes)""#
        }
        var items = [photo]
        if let mapBytes {
            items.append(item("GainMap", "image/jpeg") + #" Item:Length="\#(mapBytes)""#)
        }
        if let video {
            items.append(
                item("MotionPhoto", video.type)
                    + #" Item:Length="\#(video.bytes)" Item:Padding="0""#)
        }
        return items
    }

    /// Bytes before the content of the box `mpvd`.
    private static let boxHeaderBytes = 8

    /// Returns the header of the box for a HEIC's video; nil for a video of 4 GB or more.
    public static func boxHeader(ofVideo bytes: Int) -> [UInt8]? {
        guard let length = UInt32(exactly: bytes + boxHeaderBytes) else { return nil }
        return (0..<4).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
            + Array("mpvd".utf8)
    }

    /// Returns the photo's packet with these declarations.
    public func packet(_ packet: [UInt8]?) -> [UInt8] { XMP.adding(description, to: packet) }
}

extension Attachments.Video {
    /// The marks of a motion photo, also in the old form if the photo had it.
    fileprivate var marks: [String] {
        func marks(_ values: [(String, Int)]) -> [String] {
            values.map { #"GCamera:\#($0)="\#($1)""# }
        }
        let time = claims.stillMicroseconds
        let old: [(String, Int)] = [
            ("MicroVideo", 1), ("MicroVideoVersion", 1), ("MicroVideoOffset", bytes),
            ("MicroVideoPresentationTimestampUs", time),
        ]
        return marks([
            ("MotionPhoto", 1), ("MotionPhotoVersion", 1),
            ("MotionPhotoPresentationTimestampUs", time),
        ]) + (claims.isMicroVideo ? marks(old) : [])
    }
}

extension HEIFStill {
    /// Creates the picture of a photo's gain map, cropped like the photo.
    ///
    /// A program that crops a photo only by `clap` leaves its map unchanged. ISO/IEC 23008-12:2025 §6.6.2.4 applies the map to the
    /// cropped picture, which would be wrong. So a map with the proportions of the uncropped photo is cropped in proportion, to
    /// whole pixels.
    ///
    /// - Parameters:
    ///   - item: the map's item.
    ///   - photo: the photo of the map.
    public init(
        gainMap item: Int, of photo: HEIFStill, _ meta: HEIFMeta, in file: inout FileWindow
    ) throws(HEIFProblem) {
        let map = try HEIFStill(item: item, of: meta, in: &file)
        self = photo.isCut && !map.isCut && map.isLikeUncut(photo) ? map.cut(like: photo) : map
    }

    /// Whether the shown part is smaller than the coded picture.
    private var isCut: Bool {
        (placement.codedWidth, placement.codedHeight) != (picture.width, picture.height)
    }

    /// Whether its proportions are closer to those of the uncropped photo than to those of the cropped one.
    private func isLikeUncut(_ photo: HEIFStill) -> Bool {
        func difference(_ width: Int, _ height: Int) -> Double {
            abs(
                Double(picture.width) / Double(width) * Double(height) / Double(picture.height) - 1)
        }
        return difference(photo.picture.width, photo.picture.height)
            <= difference(photo.placement.codedWidth, photo.placement.codedHeight)
    }
}
