public import Edits

/// The contents of a HEIF beside the photo: items that refer to the primary one, and a video after them.
public struct HEIFCompanions: Sendable, Equatable {
    /// The gain map; nil if there is none, or none that is readable.
    public private(set) var map: GainMap?
    /// The video of a motion photo; nil if there is none, or none that is readable.
    public private(set) var video: MotionVideo?
    /// Other contents.
    public private(set) var others: Set<Companion> = []
    /// The reason why something that the file declares as a gain map is invalid; nil if there is no error.
    public private(set) var damage: String?
    /// The reason why the video that the photo has or declares is not readable; nil if there is no error.
    public private(set) var videoDamage: String?
    /// Whether the photo declares a video that the file does not have.
    public private(set) var hasFalseClaims = false

    /// The items of a gain map.
    struct Items: Equatable {
        /// The item whose picture is the map.
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

    /// Finds the items of a gain map.
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
