public import Edits

/// The contents of a JPEG file beside the photo, found by the photo's declarations and verified in place.
public struct JPEGCompanions: Sendable {
    /// The gain map; nil if there is none, or none that is readable.
    public private(set) var map: GainMap?
    /// The video of a motion photo; nil if there is none, or none that can be found.
    public private(set) var video: MotionVideo?
    public private(set) var others: Set<Companion> = []
    /// The reason why something that the photo declares as a gain map is invalid; nil if there is no error.
    public private(set) var damage: String?
    /// The reason why the video that the photo declares is invalid; nil if there is no error.
    public private(set) var videoDamage: String?
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
        if photo.hasThermalData { others.insert(.otherPictures) }
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

extension FileWindow {
    /// Returns the marker of the segment at an offset, and the range of what follows its length; nil for truncated data, and for
    /// bytes that are no segment (ITU-T T.81 §B.1.1.4). Fill bytes before the marker are skipped.
    public mutating func jpegSegment(at offset: Int) -> (code: UInt8, content: Range<Int>)? {
        var offset = offset
        while byte(offset) == 0xFF, byte(offset + 1) == 0xFF { offset += 1 }
        guard byte(offset) == 0xFF, let code = byte(offset + 1), let length = big(offset + 2, 2),
            length >= 2
        else { return nil }
        return (UInt8(truncatingIfNeeded: code), offset + 4..<offset + 2 + length)
    }
}

/// The APPn segments of a JPEG within a file, up to its first scan.
///
/// Source: ITU-T T.81 §B.1.1. The walk ends at truncated data or at a limit; there are no errors.
public struct JPEGSegments: Sendable {
    /// One segment.
    public struct Segment: Sendable {
        /// 0xE0 to 0xEF, or 0xFE of a comment.
        public let code: UInt8
        public let contentOffset: Int
        /// The bytes after the length.
        public let bytes: [UInt8]

        /// Returns the bytes after a signature; nil if the content does not begin with it.
        public func content(after signature: some Collection<UInt8>) -> ArraySlice<UInt8>? {
            bytes.starts(with: signature) ? bytes.dropFirst(signature.count) : nil
        }
    }

    public private(set) var segments: [Segment] = []
    /// Its comments.
    public private(set) var comments: [Segment] = []
    /// Width and height of the picture, as stored; nil if the walk ended before the frame header.
    public private(set) var size: (width: Int, height: Int)?
    /// Channels, 0 if unknown.
    public private(set) var components = 0

    /// Most segments of one picture, of any kind.
    public static let segmentsMax = 2_000
    /// Most bytes of APPn segments that are kept; an ICC profile of 16 MB exceeds this.
    public static let bytesMax = 4 << 20

    /// Reads the segments of the JPEG at an offset; nil if there is none.
    public init?(_ file: inout FileWindow, at start: Int) {
        guard file.bytes(start, 3).elementsEqual([0xFF, 0xD8, 0xFF]) else { return nil }
        var offset = start + 2
        var kept = 0
        for _ in 0..<Self.segmentsMax {
            guard let (code, content) = file.jpegSegment(at: offset) else { return }
            switch code {
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(code):
                guard let height = file.big(content.lowerBound + 1, 2),
                    let width = file.big(content.lowerBound + 3, 2),
                    let count = file.byte(content.lowerBound + 5)
                else { return }
                size = (width, height)
                components = count
            case 0xDA, 0xD9: return
            case 0xE0...0xEF where !file.has("ICC_PROFILE\0", at: content.lowerBound):
                kept += content.count
                guard kept <= Self.bytesMax else { return }
                let bytes = file.all(content)
                guard bytes.count == content.count else { return }
                segments.append(
                    Segment(
                        code: code, contentOffset: content.lowerBound, bytes: bytes))
            case 0xFE:
                kept += content.count
                guard kept <= Self.bytesMax else { return }
                comments.append(
                    Segment(
                        code: code, contentOffset: content.lowerBound, bytes: file.all(content)))
            default: break
            }
            offset = content.upperBound
        }
    }

    /// Returns the content of the first segment of a code with a signature, without the signature.
    public func content(_ code: UInt8, after signature: some Collection<UInt8>) -> [UInt8]? {
        for segment in segments where segment.code == code {
            if let content = segment.content(after: signature) { return Array(content) }
        }
        return nil
    }

    /// XMP specification part 3 §1.1.3.
    public static let xmpSignature = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    /// EXIF 2.32 §4.7.2.
    static let exifSignature = Array("Exif\0\0".utf8)

    /// The XMP packet with its extension; nil without a packet, and without all of its extension.
    public var wholeXMP: [UInt8]? {
        guard let xmp else { return nil }
        guard ExtendedXMP.isNamed(in: xmp) else { return xmp }
        let parts = segments.filter { $0.code == 0xE1 }
            .compactMap { $0.content(after: ExtendedXMP.signature).map(Array.init) }
        return ExtendedXMP.joined(xmp, with: parts)
    }
    /// The XMP packet, without its extension.
    public var xmp: [UInt8]? { content(0xE1, after: Self.xmpSignature) }
    /// EXIF, a TIFF structure.
    public var exif: [UInt8]? { content(0xE1, after: Self.exifSignature) }
    /// Whether there is the picture of a camera for heat: FLIR's segments, and those that InfiRay's and DJI's begin with (exiftool, JPEG.pm).
    var hasThermalData: Bool {
        segments.contains { segment in
            switch segment.code {
            case 0xE1: segment.content(after: "FLIR\0".utf8) != nil
            case 0xE2: segment.bytes.dropFirst(4).starts(with: "IJPEG\0".utf8)
            case 0xE4: segment.bytes.starts(with: [0xAA, 0x55, 0x12, 0x06])
            default: false
            }
        }
    }
    /// The bytes of ISO 21496-1.
    public var isoGainMap: [UInt8]? { content(0xE2, after: GainMapMetadata.signature) }
}

extension Companion {
    /// Returns the kind of an auxiliary picture by its URN; nil for gain maps and unknown ones.
    ///
    /// Sources: Apple's names in files of iOS 12 to 18; ISO/IEC 23008-12 §6.5.8 with ITU-T H.265 table F.2 (auxid 2 is depth).
    init?(auxiliary urn: String) {
        if urn.contains("depth") || urn.contains("disparity") || urn.hasSuffix(":auxid:2") {
            self = .depth
        } else if urn.contains("matte") {
            self = .matte
        } else {
            return nil
        }
    }
}

/// The video of a motion photo, and the declarations about it in the photo's XMP, without its length.
///
/// Sources: Google, "Motion Photo format 1.0", and its forerunner of `MicroVideo`.
public struct MotionVideo: Sendable, Equatable {
    /// The byte range of the movie's boxes. Bytes after them, of which some phones write a few, are not part of it.
    public let byteRange: Range<Int>
    /// Declarations that stay valid when the frames are edited.
    public let claims: Claims

    /// Declarations in a photo's XMP.
    public struct Claims: Sendable, Equatable {
        /// The time of the still, in microseconds from the video's beginning; -1 means unknown.
        public let stillMicroseconds: Int
        /// Whether the photo is marked in the form of version 1.0, and in the older form.
        public let isMotionPhoto: Bool, isMicroVideo: Bool

        public init(_ packet: [UInt8]) {
            func number(_ name: String) -> Int? {
                XMP.values(name, in: packet).first.flatMap(Int.init)
            }
            isMotionPhoto = XMP.values("GCamera:MotionPhoto", in: packet).first == "1"
            isMicroVideo = number("GCamera:MicroVideoOffset") != nil
            let time =
                number("GCamera:MotionPhotoPresentationTimestampUs")
                ?? number("GCamera:MicroVideoPresentationTimestampUs")
            stillMicroseconds = time.map { max(-1, $0) } ?? -1
        }

        private init(_ claims: Claims, stillMicroseconds: Int) {
            (isMotionPhoto, isMicroVideo) = (claims.isMotionPhoto, claims.isMicroVideo)
            self.stillMicroseconds = stillMicroseconds
        }

        /// Returns the declarations for a video of this duration: a still after its end has an unknown time.
        public func within(seconds: Double) -> Claims {
            Double(stillMicroseconds) / 1e6 <= seconds
                ? self : Claims(self, stillMicroseconds: -1)
        }
    }

    /// Finds the boxes of a movie at an offset.
    ///
    /// - Parameter end: the declared end of the video.
    /// - Returns: nil if no movie begins there.
    init?(at start: Int, before end: Int, _ packet: [UInt8], _ file: inout FileWindow) {
        guard start > 0, start < end, file.has("ftyp", at: start + 4) else { return nil }
        let boxes = file.boxes(in: start..<min(end, file.length), atMost: Self.boxesMax)
            .prefix { !$0.isCutOff && $0.type.utf8.allSatisfy { (0x20...0x7E).contains($0) } }
        guard let last = boxes.last else { return nil }
        byteRange = start..<last.range.upperBound
        claims = Claims(packet)
    }

    /// Most boxes of the movie's top level; phones write 3 to 6.
    private static let boxesMax = 256
}
