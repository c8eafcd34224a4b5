public import Edits

/// The contents of a JPEG file beside the photo, found by the photo's declarations and verified in place.
public struct JPEGCompanions: Sendable {
    /// The gain map; nil if there is none, or none that is readable.
    public private(set) var map: GainMap?
    /// The video of a motion photo; nil if there is none, or none that can be found.
    public private(set) var video: MotionVideo?
    /// Other contents.
    public private(set) var others: Set<Companion> = []
    /// The reason why something that the photo declares as a gain map is invalid; nil if there is no error.
    public private(set) var damage: String?
    /// The reason why the video that the photo declares is invalid; nil if there is no error.
    public private(set) var videoDamage: String?
    /// Whether the XMP itself contains a map of depth.
    public private(set) var hasDepthInXMP = false
    /// Whether the photo declares something that the file does not have.
    public private(set) var hasFalseClaims = false

    /// Most bytes of a map's JPEG; a map as large as a photo of 50 MP has some 20 MB.
    public static let mapBytesMax = 64 << 20
    /// Most items of a container directory that are read.
    private static let itemsMax = 16

    /// Searches a file that begins with the photo; nil if that is no JPEG.
    public init?(_ file: inout FileWindow) {
        guard let photo = JPEGSegments(&file, at: 0) else { return nil }
        let packet = photo.xmp ?? []
        let whole = photo.wholeXMP
        if !packet.isEmpty, whole == nil { others.insert(.xmp) }
        if let whole { hasDepthInXMP = XMP.hasDepth(whole) }
        if XMP.hasPicture(whole ?? packet) { others.insert(.otherPictures) }
        let claimsMap = XMP.hasGainMap(packet) || photo.isoGainMap != nil
        for extent in extents(photo, packet, &file) {
            inspect(at: extent, of: photo, &file)
        }
        if map == nil, claimsMap {
            damage =
                damage ?? "the photo declares a gain map, but the file has none"
            hasFalseClaims = true
        }
    }

    /// A part of the file that a declaration refers to.
    private struct Extent: Hashable {
        let start, length: Int
        var isStereo = false
        /// Whether it is a small copy of the photo.
        var isPreview = false
    }

    /// Returns the declared parts of the file, each once.
    private mutating func extents(
        _ photo: JPEGSegments, _ packet: [UInt8], _ file: inout FileWindow
    ) -> [Extent] {
        var extents: [Extent] = []
        func add(_ extent: Extent) {
            if !extents.contains(where: { $0.start == extent.start }) { extents.append(extent) }
        }
        for segment in photo.segments where segment.code == 0xE2 {
            guard let content = segment.content(after: MultiPicture.signature) else { continue }
            let offset = segment.contentOffset + MultiPicture.signature.count
            guard let index = MultiPicture(content, at: offset) else {
                hasFalseClaims = true
                continue
            }
            for entry in index.entries.dropFirst() {
                add(
                    Extent(
                        start: entry.start, length: entry.length,
                        isStereo: entry.kind == MultiPicture.Entry.stereo,
                        isPreview: entry.isPreview))
            }
        }
        // Items are contiguous, the last one at the end of the file, and only the photo may be followed by padding. The index is
        // more exact: it is also right if undeclared bytes follow at the end.
        let hasIndex = !extents.isEmpty
        let hasDirectory = !XMP.values("Container:Directory", in: packet).isEmpty
        let semantics =
            hasDirectory ? XMP.values("Item:Semantic", among: Self.itemsMax, in: packet) : []
        let lengths = XMP.values("Item:Length", among: Self.itemsMax, in: packet)
        var end = file.length
        if !semantics.contains("MotionPhoto"), let video = microVideo(packet, file.length) {
            end = video.lowerBound
        }
        // The photo itself is the first item, and needs no length.
        let withLength = semantics.suffix(lengths.count)
        for (semantic, length) in zip(withLength, lengths).reversed() where semantic != "Primary" {
            guard let length = Int(length), length > 0, length < end else {
                hasFalseClaims = true
                break
            }
            let itemEnd = end
            end -= length
            if semantic == "MotionPhoto" {
                readVideo(in: end..<itemEnd, packet, &file)
            } else if semantic == "Depth" {
                others.insert(.depth)
            } else if !hasIndex {
                add(Extent(start: end, length: length))
            }
        }
        readMicroVideo(packet, &file)
        readSamsungVideo(packet, &file)
        return extents
    }

    /// Finds the video of a motion photo.
    private mutating func readVideo(
        in range: Range<Int>, _ packet: [UInt8], _ file: inout FileWindow
    ) {
        if let found = MotionVideo(
            at: range.lowerBound, before: range.upperBound, packet, &file)
        {
            video = video ?? found
            others.insert(.motionVideo)
        } else {
            noteNoVideo()
        }
    }

    /// Returns the part of the file that the older declaration of motion photos refers to: by the distance of the video's start
    /// from the end of the file.
    private func microVideo(_ packet: [UInt8], _ length: Int) -> Range<Int>? {
        guard let text = XMP.values("GCamera:MicroVideoOffset", in: packet).first,
            let offset = Int(text), offset > 0, offset < length
        else { return nil }
        return length - offset..<length
    }

    /// Finds the video of the older declaration, and records an error if a photo that is marked as a motion photo has none.
    private mutating func readMicroVideo(_ packet: [UInt8], _ file: inout FileWindow) {
        if !XMP.values("GCamera:MicroVideoOffset", in: packet).isEmpty {
            guard let range = microVideo(packet, file.length) else { return noteNoVideo() }
            readVideo(in: range, packet, &file)
        } else if XMP.values("GCamera:MotionPhoto", in: packet).first == "1", video == nil {
            noteNoVideo()
        }
    }

    /// Finds the video of Samsung's older phones, which do not declare it in XMP.
    private mutating func readSamsungVideo(_ packet: [UInt8], _ file: inout FileWindow) {
        guard video == nil,
            let range = SamsungTrailer(endingAt: file.length, &file)?.motionVideo
        else { return }
        others.insert(.motionVideo)
        video = MotionVideo(at: range.lowerBound, before: range.upperBound, packet, &file)
        videoDamage = video == nil ? "what Samsung's trailer has as a video is no movie" : nil
    }

    private mutating func noteNoVideo() {
        hasFalseClaims = true
        videoDamage =
            videoDamage
            ?? "the photo declares a video, but there is none where it should be"
    }

    private mutating func inspect(
        at extent: Extent, of photo: JPEGSegments, _ file: inout FileWindow
    ) {
        guard extent.start > 0, extent.length > 0, extent.start < file.length,
            extent.length <= file.length - extent.start,
            let picture = JPEGSegments(&file, at: extent.start)
        else {
            damage = damage ?? "a picture that the photo's index names is not where it should be"
            hasFalseClaims = true
            return
        }
        let packet = picture.xmp ?? []
        let kind = XMP.values("apdi:AuxiliaryImageType", in: packet).first ?? ""
        let companion: Companion? = extent.isStereo ? .secondEye : Companion(auxiliary: kind)
        if let companion { others.insert(companion) }
        let isMap =
            picture.isoGainMap != nil || XMP.hasGainMap(packet) || kind.hasSuffix("hdrgainmap")
            || !XMP.values("HDRGainMap:HDRGainMapVersion", in: packet).isEmpty
        guard isMap else {
            if companion == nil, !extent.isPreview { others.insert(.otherPictures) }
            return
        }
        guard map == nil else { return }
        let apple = AppleGainMap(xmp: packet, exif: photo.exif)
        let iso = picture.isoGainMap.flatMap { GainMapMetadata(iso: $0) }
        guard let metadata = iso ?? GainMapMetadata(hdrgm: packet) ?? apple?.metadata else {
            damage =
                "the meaning of the gain map's codes is unknown: neither ISO 21496-1, hdrgm nor Apple's XMP and "
                + "MakerNote have a headroom that makes sense"
            return
        }
        guard let size = picture.size, size.width > 0, size.height > 0,
            [1, 3].contains(picture.components), extent.length <= Self.mapBytesMax
        else {
            damage = "the gain map is no picture of one or three channels within limits"
            return
        }
        let isApple = iso == nil && GainMapMetadata(hdrgm: packet) == nil
        map = GainMap(
            location: .jpeg(extent.start..<extent.start + extent.length), width: size.width,
            height: size.height, components: picture.components, metadata: metadata,
            codes: isApple ? apple?.isoCodes : nil)
    }
}
