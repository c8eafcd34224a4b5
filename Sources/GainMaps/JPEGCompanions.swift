public import Adjustments
public import Boxes
import Metadata

/// The things in a JPEG file beside the photo, found by what the photo says of it and looked at where it lies.
public struct JPEGCompanions: Sendable {
    /// The gain map; nil when there is none, or none that can be read.
    public private(set) var map: GainMap?
    /// The video of a motion photo; nil when there is none, or none that can be found.
    public private(set) var video: MotionVideo?
    /// Other things.
    public private(set) var others: Set<Companion> = []
    /// Why something that the photo calls a gain map is none; nil when all is well.
    public private(set) var damage: String?
    /// Why the video that the photo says it has is none; nil when all is well.
    public private(set) var videoDamage: String?
    /// Bytes of the photo's XMP packet.
    public let xmpBytes: Int
    /// Whether the photo claims what the file does not have.
    public private(set) var hasFalseClaims = false

    /// Most bytes of a map's JPEG; a map as large as a photo of 50 MP has some 20.
    public static let mapBytesMax = 64 << 20
    /// Most items of a container directory that are looked at.
    private static let itemsMax = 16

    /// Looks through a file whose photo is at its beginning; nil when that is no JPEG.
    public init?(_ file: inout FileWindow) {
        guard let photo = JPEGSegments(&file, at: 0) else { return nil }
        let packet = photo.xmp ?? []
        xmpBytes = packet.count
        let claimsMap = XMP.hasGainMap(packet) || photo.isoGainMap != nil
        for place in places(photo, packet, &file) {
            look(at: place, of: photo, &file)
        }
        if map == nil, claimsMap {
            damage =
                damage ?? "the photo says that it has a gain map, and there is none in the file"
            hasFalseClaims = true
        }
    }

    /// A part of the file that something is said of.
    private struct Place: Hashable {
        let start, length: Int
        var isStereo = false
    }

    /// The parts of the file that are named, each once.
    private mutating func places(
        _ photo: JPEGSegments, _ packet: [UInt8], _ file: inout FileWindow
    ) -> [Place] {
        var places: [Place] = []
        func add(_ place: Place) {
            if !places.contains(where: { $0.start == place.start }) { places.append(place) }
        }
        for segment in photo.segments where segment.code == 0xE2 {
            guard let content = segment.content(after: MultiPicture.signature) else { continue }
            let offset = segment.place + MultiPicture.signature.count
            guard let index = MultiPicture(content, at: offset) else {
                hasFalseClaims = true
                continue
            }
            for entry in index.entries.dropFirst() {
                add(
                    Place(
                        start: entry.start, length: entry.length,
                        isStereo: entry.kind == MultiPicture.Entry.stereo))
            }
        }
        // Items lie one behind the other, the last at the end of the file, and only the photo may have padding behind it. The index is
        // more exact: it holds also where something that nobody names lies at the end.
        let hasIndex = !places.isEmpty
        let hasDirectory = !XMP.values("Container:Directory", in: packet).isEmpty
        let semantics =
            hasDirectory ? XMP.values("Item:Semantic", among: Self.itemsMax, in: packet) : []
        let lengths = XMP.values("Item:Length", among: Self.itemsMax, in: packet)
        var end = file.length
        if !semantics.contains("MotionPhoto"), let video = microVideo(packet, file.length) {
            end = video.lowerBound
        }
        // The photo itself is the first, and needs no length.
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
                add(Place(start: end, length: length))
            }
        }
        readMicroVideo(packet, &file)
        readSamsungVideo(packet, &file)
        return places
    }

    /// Notes the video of a motion photo where it is one.
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

    /// The part of the file that the first way of motion photos names: how far from the end of the file the video begins.
    private func microVideo(_ packet: [UInt8], _ length: Int) -> Range<Int>? {
        guard let text = XMP.values("GCamera:MicroVideoOffset", in: packet).first,
            let offset = Int(text), offset > 0, offset < length
        else { return nil }
        return length - offset..<length
    }

    /// Notes the video that is named so; and that there is none where the photo is marked as a motion photo.
    private mutating func readMicroVideo(_ packet: [UInt8], _ file: inout FileWindow) {
        if !XMP.values("GCamera:MicroVideoOffset", in: packet).isEmpty {
            guard let range = microVideo(packet, file.length) else { return noteNoVideo() }
            readVideo(in: range, packet, &file)
        } else if XMP.values("GCamera:MotionPhoto", in: packet).first == "1", video == nil {
            noteNoVideo()
        }
    }

    /// The way of Samsung's older phones, which say nothing of it in XMP.
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
            ?? "the photo says that it has a video, and there is none where it should be"
    }

    private mutating func look(
        at place: Place, of photo: JPEGSegments, _ file: inout FileWindow
    ) {
        guard place.start > 0, place.length > 0, place.start < file.length,
            place.length <= file.length - place.start,
            let picture = JPEGSegments(&file, at: place.start)
        else {
            damage = damage ?? "a picture that the photo's index names is not where it should be"
            hasFalseClaims = true
            return
        }
        let packet = picture.xmp ?? []
        let kind = XMP.values("apdi:AuxiliaryImageType", in: packet).first ?? ""
        if place.isStereo { others.insert(.secondEye) }
        if let companion = Companion(auxiliary: kind) { others.insert(companion) }
        let isMap =
            picture.isoGainMap != nil || XMP.hasGainMap(packet) || kind.hasSuffix("hdrgainmap")
            || !XMP.values("HDRGainMap:HDRGainMapVersion", in: packet).isEmpty
        guard isMap, map == nil else { return }
        let apple = AppleGainMap(xmp: packet, exif: photo.exif)
        let iso = picture.isoGainMap.flatMap { GainMapMetadata(iso: $0) }
        guard let metadata = iso ?? GainMapMetadata(hdrgm: packet) ?? apple?.metadata else {
            damage =
                "nothing says what the gain map's codes mean: neither ISO 21496-1, hdrgm nor Apple's XMP and MakerNote have a headroom that makes sense"
            return
        }
        guard let size = picture.size, size.width > 0, size.height > 0,
            [1, 3].contains(picture.components), place.length <= Self.mapBytesMax
        else {
            damage = "the gain map is no picture of one or three channels within limits"
            return
        }
        let isApple = iso == nil && GainMapMetadata(hdrgm: packet) == nil
        map = GainMap(
            place: .jpeg(place.start..<place.start + place.length), width: size.width,
            height: size.height, components: picture.components, metadata: metadata,
            codes: isApple ? apple?.isoCodes : nil)
    }
}
