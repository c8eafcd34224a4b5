import Codecs
import Edits
import PhotoFiles

/// Small copies of JPEGs, decoded at a reduced size.
enum JPEGCopy {
    /// The scales, in eighths, that are worth using. Decoding 24 MP takes 25, 30, 45, 36, 78, 113, 152 and 80 ms at 1 to 8 eighths
    /// (1, 2, 4 and 8 have SIMD), and shrinking the result takes 11 ns per pixel.
    private static let eighths = [1, 2, 3, 4, 5, 6, 8]

    /// A picture that covers a part of itself: see ``Vips/Image/resized(width:height:covered:)``.
    struct Scaled {
        let image: Image
        let covered: (width: Double, height: Double)
    }

    /// Decodes a photo at the smallest scale whose result is not smaller than the requested size.
    ///
    /// - Parameter eighthsMin: the smallest scale.
    /// - Returns: the picture in memory, without metadata; nil for a photo that is neither grey nor RGB, or that is so large that
    ///   it should be streamed.
    static func image(_ file: PhotoFile, atLeast size: PixelSize, eighthsMin: Int = 1) throws
        -> Scaled?
    {
        let reader = try JPEGReader(
            file.descriptor,
            limits: file.jpegLimits(coefficientBytesMax: PlanesLane.coefficientBytesMax))
        let layout = reader.header.layout
        let eighths =
            eighths.first {
                $0 >= eighthsMin && layout.width * $0 >= 8 * size.width
                    && layout.height * $0 >= 8 * size.height
            } ?? 8
        let pixels = (layout.width * eighths + 7) / 8 * ((layout.height * eighths + 7) / 8)
        let isKnown = [.grey, .rgb, .ycbcr].contains(layout.colour)
        guard isKnown, 3 * pixels <= Photo.memorySpoolBytesMax else { return nil }
        var memory: PixelMemory?
        var shape = (width: 0, height: 0, bands: 0)
        try reader.readRows(eighths: eighths) { width, height, bands in
            let room = PixelMemory(width * height * bands)
            (memory, shape) = (room, (width, height, bands))
            return room.start
        }
        guard let memory else { return nil }
        return Scaled(
            image: try Image.over(
                UnsafeRawBufferPointer(start: memory.start, count: memory.count), of: memory,
                width: shape.width, height: shape.height, bands: shape.bands, format: .uchar,
                interpretation: shape.bands == 1 ? "b-w" : "srgb"),
            covered: (Double(layout.width * eighths) / 8, Double(layout.height * eighths) / 8))
    }
}

/// Bytes on the heap.
///
/// `@unchecked Sendable` is safe because the bytes are never written after they are filled.
final class PixelMemory: @unchecked Sendable {
    let start: UnsafeMutablePointer<UInt8>
    let count: Int

    init(_ count: Int) {
        start = .allocate(capacity: count)
        self.count = count
    }

    deinit { start.deallocate() }
}

/// The identifying prefixes of known segments.
enum Signature {
    /// EXIF 2.32 §4.7.2.
    static let exif = "Exif\0\0"
    /// XMP specification part 3 §1.1.3.
    static let xmp = "http://ns.adobe.com/xap/1.0/\0"
    /// ICC.1:2010 §B.4.
    static let profile = "ICC_PROFILE\0"
    /// Adobe Photoshop File Formats, "Image Resource Blocks".
    static let photoshop = "Photoshop 3.0\0"
}

extension JPEGMarker {
    /// Returns metadata of another format as segments of a JPEG, without EXIF or XMP that exceeds a segment.
    ///
    /// - Parameters:
    ///   - exif: a TIFF structure.
    ///   - profile: at most 255 segments, because ICC.1:2010 §B.4 counts them in one byte.
    static func of(exif: [UInt8]?, xmp: [UInt8]?, profile: [UInt8]?) -> [JPEGMarker] {
        var markers: [JPEGMarker] = []
        if let exif, Signature.exif.utf8.count + exif.count <= bytesMax {
            markers.append(JPEGMarker(code: 0xE1, bytes: Signature.exif.utf8 + exif))
        }
        markers += xmp.map { of(xmp: $0) } ?? []
        guard let profile else { return markers }
        let room = bytesMax - Signature.profile.utf8.count - 2
        let count = (profile.count + room - 1) / room
        guard count <= UInt8.max else { return markers }
        for number in 0..<count {
            let part = profile.dropFirst(number * room).prefix(room)
            markers.append(
                JPEGMarker(
                    code: 0xE2,
                    bytes: Signature.profile.utf8 + [UInt8(number + 1), UInt8(count)] + part))
        }
        return markers
    }

    /// Returns the segments of a packet, which has an extension if it is large; none if it does not fit.
    static func of(xmp: [UInt8]) -> [JPEGMarker] {
        guard let parts = ExtendedXMP.split(xmp) else { return [] }
        return [JPEGMarker(code: 0xE1, bytes: Signature.xmp.utf8 + parts.packet)]
            + parts.parts.map { JPEGMarker(code: 0xE1, bytes: ExtendedXMP.signature + $0) }
    }
}

extension JPEGMarker {
    /// Whether a comment stays: not one with coordinates where places are removed.
    fileprivate func isComment(keptBy strip: Recipe.Strip) -> Bool {
        switch strip {
        case .none: true
        case .gps: !CoordinateText.isIn(bytes)
        case .all: false
        }
    }
}

extension [JPEGMarker] {
    /// The packet with its extension, or without one that is incomplete; nil if there is none.
    var xmp: [UInt8]? {
        func contents(_ signature: [UInt8]) -> [[UInt8]] {
            filter { $0.code == 0xE1 && $0.bytes.starts(with: signature) }
                .map { Array<UInt8>($0.bytes.dropFirst(signature.count)) }
        }
        guard let packet = contents(Array<UInt8>(Signature.xmp.utf8)).first else { return nil }
        guard ExtendedXMP.isNamed(in: packet) else { return packet }
        return ExtendedXMP.joined(packet, with: contents(ExtendedXMP.signature)) ?? packet
    }

    /// Returns the segments of an original that its render keeps, updated for the result: the ICC profile, EXIF, XMP, IPTC and
    /// comments.
    ///
    /// All others are dropped: JFIF's and Adobe's, which libjpeg-turbo writes itself, thumbnails (`JFXX`), the index of pictures
    /// that are not carried over (`MPF`), signatures that are no longer valid (C2PA), and unknown segments.
    func carried(
        to facts: PictureFacts, strip: Recipe.Strip, writing output: Recipe.Output? = nil
    ) -> [JPEGMarker] {
        if let output, output.writesMetadata { return carried(to: facts, writing: output) }
        var facts = facts
        facts.removesLocation = strip == .gps
        var packet = strip == .all ? nil : xmp.flatMap { XMP.revised($0, to: facts) }
        return withoutPlaces(strip).flatMap { marker -> [JPEGMarker] in
            if marker.code == 0xE2, marker.starts(with: Signature.profile) { return [marker] }
            guard strip != .all else { return [] }
            let bytes: [UInt8]?
            switch marker.code {
            case 0xE1 where marker.starts(with: Signature.exif):
                bytes = Exif.revised(marker.bytes, to: facts)
            case 0xE1 where marker.starts(with: Signature.xmp):
                defer { packet = nil }
                return packet.map { JPEGMarker.of(xmp: $0) } ?? []
            case 0xED where marker.starts(with: Signature.photoshop):
                let records = IPTC(marker.bytes)
                bytes = IPTC.photoshopBlock(
                    strip == .gps ? records?.withoutCoordinates : records,
                    facts.positions == .same ? PhotoshopPaths(marker.bytes)?.kept(by: strip) : nil)
            case 0xFE: bytes = marker.isComment(keptBy: strip) ? marker.bytes : nil
            default: bytes = nil
            }
            guard let bytes, bytes.count <= JPEGMarker.bytesMax else { return [] }
            return [JPEGMarker(code: marker.code, bytes: bytes)]
        }
    }

    /// Returns the segments of a result into whose metadata something is written: each in its place, and new ones before the others.
    private func carried(to facts: PictureFacts, writing output: Recipe.Output) -> [JPEGMarker] {
        func content(_ code: UInt8, _ signature: String) -> [UInt8]? {
            first { $0.code == code && $0.starts(with: signature) }?.bytes
        }
        let own = PhotoMetadata(
            exif: content(0xE1, Signature.exif), xmp: xmp,
            iptc: content(0xED, Signature.photoshop).flatMap { IPTC($0) })
        let copies = output.metadata.map { FileTextCopies($0, of: own.texts) }
        let result = own.result(
            facts, as: output, exifMax: JPEGMarker.bytesMax - Signature.exif.utf8.count)
        var exif = JPEGMarker.of(
            exif: result.exif.map(Exif.withoutPrefix), xmp: nil, profile: nil)
        var xmp = result.xmp.map { JPEGMarker.of(xmp: $0) } ?? []
        let paths =
            facts.positions == .same
            ? content(0xED, Signature.photoshop).flatMap {
                PhotoshopPaths($0)?.kept(by: output.strip)
            } : nil
        var iptc =
            IPTC.photoshopBlock(result.iptc, paths).map { [JPEGMarker(code: 0xED, bytes: $0)] }?
            .filter { $0.bytes.count <= JPEGMarker.bytesMax } ?? []
        var placed: [JPEGMarker] = []
        for marker in withoutPlaces(output.strip) {
            switch marker.code {
            case 0xE2 where marker.starts(with: Signature.profile): placed.append(marker)
            case 0xE1 where marker.starts(with: Signature.exif):
                placed += exif
                exif = []
            case 0xE1 where marker.starts(with: Signature.xmp):
                placed += xmp
                xmp = []
            case 0xED where marker.starts(with: Signature.photoshop):
                placed += iptc
                iptc = []
            case 0xFE
            where marker.isComment(keptBy: output.strip)
                && copies?.keeps(comment: marker.bytes) != false:
                placed.append(marker)
            default: continue
            }
        }
        return exif + xmp + placed
    }

    /// Returns the segments without comments that are a place together, and with a profile without places in its texts, where metadata are
    /// removed.
    private func withoutPlaces(_ strip: Recipe.Strip) -> [JPEGMarker] {
        let comments = indices.filter { self[$0].code == 0xFE }
        guard strip == .gps, comments.count > 1 else { return withProfile(keptBy: strip) }
        let places = CoordinateText.places(in: comments.map { self[$0].bytes })
        let gone = Set(places.map { comments[$0] })
        return indices.filter { !gone.contains($0) }.map { self[$0] }.withProfile(keptBy: strip)
    }

    private func withProfile(keptBy strip: Recipe.Strip) -> [JPEGMarker] {
        func isProfile(_ marker: JPEGMarker) -> Bool {
            marker.code == 0xE2 && marker.starts(with: Signature.profile)
        }
        guard strip != .none else { return self }
        switch profile {
        case .none: return self
        case .damaged: return filter { !isProfile($0) || !CoordinateText.isIn(data: $0.bytes) }
        case .whole(let old):
            let new = PlacelessProfile.profile(old)
            guard new != old else { return self }
            var parts = JPEGMarker.of(exif: nil, xmp: nil, profile: new)
            return flatMap { marker -> [JPEGMarker] in
                guard isProfile(marker) else { return [marker] }
                defer { parts = [] }
                return parts
            }
        }
    }

    /// The ICC profile in the segments, each of which has its number, from 1, and the total.
    var profile: EmbeddedProfile {
        let start = Signature.profile.utf8.count
        let segments = filter { $0.code == 0xE2 && $0.starts(with: Signature.profile) }.map(\.bytes)
        guard !segments.isEmpty else { return .none }
        let isWhole = segments.allSatisfy {
            $0.count > start + 2 && Int($0[start + 1]) == segments.count
        }
        guard isWhole else { return .damaged }
        let sorted = segments.sorted { $0[start] < $1[start] }
        guard sorted.map({ Int($0[start]) }) == Array<Int>(1...segments.count) else {
            return .damaged
        }
        return .whole(sorted.flatMap { $0.dropFirst(start + 2) })
    }
}

/// The ICC profile that a JPEG's segments contain.
enum EmbeddedProfile: Equatable {
    case none
    case damaged
    case whole([UInt8])
}
