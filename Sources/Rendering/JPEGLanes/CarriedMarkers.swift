import Edits
import Codecs
import PhotoFiles

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
}

extension JPEGMarker {
    /// Returns the segments of a packet, which has an extension if it is large; none if it does not fit.
    static func of(xmp: [UInt8]) -> [JPEGMarker] {
        guard let parts = ExtendedXMP.split(xmp) else { return [] }
        return [JPEGMarker(code: 0xE1, bytes: Signature.xmp.utf8 + parts.packet)]
            + parts.parts.map { JPEGMarker(code: 0xE1, bytes: ExtendedXMP.signature + $0) }
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
    func carried(to facts: PictureFacts, strip: Recipe.Strip) -> [JPEGMarker] {
        var facts = facts
        facts.removesLocation = strip == .gps
        var packet = strip == .all ? nil : xmp.flatMap { XMP.revised($0, to: facts) }
        return flatMap { marker -> [JPEGMarker] in
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
                bytes = IPTC.records(in: marker.bytes).map { IPTC.photoshopBlock($0) }
            case 0xFE: bytes = marker.bytes
            default: bytes = nil
            }
            guard let bytes, bytes.count <= JPEGMarker.bytesMax else { return [] }
            return [JPEGMarker(code: marker.code, bytes: bytes)]
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
    /// Segments are missing, or there are too many.
    case damaged
    case whole([UInt8])
}
