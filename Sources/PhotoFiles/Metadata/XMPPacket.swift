import Edits

/// The text of a packet, searched and changed as bytes, because all relevant parts are ASCII.
struct XMPPacket {
    private(set) var bytes: [UInt8]
    let names: XMPNames

    /// Creates a packet from bytes, and reads the declared prefixes.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        names = XMPNames(of: bytes)
    }

    private init(part: ArraySlice<UInt8>, of packet: XMPPacket) {
        (bytes, names) = (Array(part), packet.names)
    }

    func part(_ range: Range<Int>) -> XMPPacket { XMPPacket(part: bytes[range], of: self) }

    /// Whether every property of known name spaces can be found.
    var isReadable: Bool { !names.isBeyondLimits }

    private static let space: Set<UInt8> = Set(" \t\r\n".utf8)

    /// The location of a property.
    struct Property {
        let whole: Range<Int>
        /// The range between the quotes or the tags; nil for an empty-element tag.
        let value: Range<Int>?
    }

    /// Replaces ranges that do not overlap; of two that do, the later one stays as it is.
    mutating func apply(_ changes: [(range: Range<Int>, new: [UInt8])]) {
        var result: [UInt8] = []
        var offset = 0
        for (range, new) in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
        where range.lowerBound >= offset {
            result += bytes[offset..<range.lowerBound] + new
            offset = range.upperBound
        }
        bytes = result + bytes[offset...]
    }

    mutating func replace(_ name: String, by value: String) {
        let value = Array(value.utf8)
        change(name) { property in property.value.map { ($0, value) } }
    }

    mutating func remove(_ name: String) {
        change(name) { ($0.whole, []) }
    }

    /// Returns some bytes of the packet, without the surrounding white space.
    static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let start = bytes.firstIndex { !space.contains($0) } ?? bytes.endIndex
        let end = bytes.lastIndex { !space.contains($0) } ?? start
        return String(decoding: start < bytes.endIndex ? bytes[start...end] : [], as: UTF8.self)
    }

    func contains(_ name: String) -> Bool { find(name, from: 0) != nil }

    /// Returns the end tag of an RDF element, and the element's written name; nil if the packet does not declare RDF's name space.
    func endTag(ofRDF name: String) -> (offset: Int, written: String)? {
        guard names.declaresRDF else { return nil }
        for written in names.written(name) {
            if let found = range(of: Array("</\(written)>".utf8), from: 0) {
                return (found.lowerBound, written)
            }
        }
        return nil
    }

    private mutating func change(
        _ name: String, _ edit: (Property) -> (range: Range<Int>, new: [UInt8])?
    ) {
        changeEach(name) { property, _ in edit(property).map { [$0] } ?? [] }
    }

    /// Changes each occurrence of a property. A packet of 4 MB has hundreds of thousands, so its bytes move once for each written name.
    ///
    /// - Parameter changes: returns the changes of the bytes of an occurrence.
    mutating func changeEach(
        _ name: String, _ changes: (Property, XMPPacket) -> [(range: Range<Int>, new: [UInt8])]
    ) {
        for written in names.written(name) {
            let name = Array(written.utf8)
            var all: [(range: Range<Int>, new: [UInt8])] = []
            var start = 0
            while let property = find(written: name, from: start) {
                start = property.whole.upperBound
                all += changes(property, self)
            }
            if !all.isEmpty { apply(all) }
        }
    }

    /// Returns the first property of a name from an offset on.
    ///
    /// - Parameter name: with the usual prefix of its name space; other prefixes that the packet declares match too.
    func find(_ name: String, from start: Int) -> Property? {
        names.written(name).compactMap { find(written: Array($0.utf8), from: start) }
            .min { $0.whole.lowerBound < $1.whole.lowerBound }
    }

    private func find(written name: [UInt8], from start: Int) -> Property? {
        // An attribute without a prefix is in no name space.
        let mayBeAttribute = name.contains(UInt8(ascii: ":"))
        var offset = start
        while let found = range(of: name, from: offset) {
            offset = found.upperBound
            guard found.lowerBound > 0, offset < bytes.count else { continue }
            let before = bytes[found.lowerBound - 1]
            // A longer name that begins with this one is another property.
            let ends =
                Self.space.contains(bytes[offset]) || [0x3D, 0x3E, 0x2F].contains(bytes[offset])
            guard ends else { continue }
            if before == UInt8(ascii: "<") {
                // If no end tag follows here, none follows later, so the search ends.
                return element(name, at: found)
            } else if mayBeAttribute, Self.space.contains(before) {
                if let attribute = attribute(at: found) { return attribute }
            }
        }
        return nil
    }

    /// `name="value"`, with the white space before it.
    private func attribute(at name: Range<Int>) -> Property? {
        var offset = skipSpace(from: name.upperBound)
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else { return nil }
        offset = skipSpace(from: offset + 1)
        guard offset < bytes.count,
            [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[offset]),
            let end = bytes[(offset + 1)...].firstIndex(of: bytes[offset])
        else { return nil }
        return Property(whole: name.lowerBound - 1..<end + 1, value: offset + 1..<end)
    }

    private func element(_ name: [UInt8], at found: Range<Int>) -> Property? {
        guard let end = bytes[found.upperBound...].firstIndex(of: UInt8(ascii: ">")) else {
            return nil
        }
        let open = found.lowerBound - 1
        if bytes[end - 1] == UInt8(ascii: "/") {
            return Property(whole: open..<end + 1, value: nil)
        }
        guard let close = range(of: Array("</".utf8) + name + Array(">".utf8), from: end + 1) else {
            return nil
        }
        return Property(whole: open..<close.upperBound, value: end + 1..<close.lowerBound)
    }

    private func skipSpace(from start: Int) -> Int {
        bytes[start...].firstIndex { !Self.space.contains($0) } ?? bytes.count
    }

    private func range(of text: [UInt8], from start: Int) -> Range<Int>? {
        var offset = start
        while offset + text.count <= bytes.count,
            let next = bytes[offset...(bytes.count - text.count)].firstIndex(of: text[0])
        {
            if bytes[next..<next + text.count].elementsEqual(text) {
                return next..<next + text.count
            }
            offset = next + 1
        }
        return nil
    }
}

/// The place of a picture in a panorama (Google's "Photo Sphere XMP Metadata"), in whole pixels.
extension XMPPacket {
    /// Makes the place that of an edited picture, or removes all properties of the panorama if it is none any more: turned, mirrored,
    /// distorted, or scaled differently across and down.
    mutating func movePanorama(_ map: ContentMap?) {
        guard Self.panorama.contains(where: { contains("GPano:" + $0) }) else { return }
        guard let map, let place = movedPanorama(map) else {
            for name in Self.panorama { remove("GPano:" + name) }
            return
        }
        for (name, value) in place {
            if let value {
                replace("GPano:" + name, by: "\(value)")
            } else {
                remove("GPano:" + name)
            }
        }
    }

    /// Returns the new values of the properties that change, nil for one that is removed; nil for no panorama.
    private func movedPanorama(_ map: ContentMap) -> [String: Int?]? {
        guard let (left, top, across, down) = map.cropAndScale else { return nil }
        let (width, height) = (Double(map.size.width), Double(map.size.height))
        // Sides are whole pixels, so a uniform scale may differ by that much.
        guard abs(width * (across / down - 1)) <= Self.scaleTolerance,
            abs(height * (down / across - 1)) <= Self.scaleTolerance
        else { return nil }
        guard let full = size("FullPano"), let cropped = size("CroppedAreaImage"),
            let oldLeft = number("CroppedAreaLeftPixels"),
            let oldTop = number("CroppedAreaTopPixels")
        else { return nil }
        // The values count the panorama's pixels when it was made, the photo may have fewer since.
        let (x, y) = (
            cropped.width / Double(map.source.width), cropped.height / Double(map.source.height)
        )
        guard abs(x / y - 1) <= Self.shapeTolerance else { return nil }
        var place: [String: Int?] = [
            "FullPanoWidthPixels": whole(full.width / x / across),
            "FullPanoHeightPixels": whole(full.height / y / down),
            "CroppedAreaImageWidthPixels": map.size.width,
            "CroppedAreaImageHeightPixels": map.size.height,
            "CroppedAreaLeftPixels": whole((oldLeft / x + left) / across),
            "CroppedAreaTopPixels": whole((oldTop / y + top) / down),
        ]
        let interior = "LargestValidInteriorRect"
        if let size = size(interior, unit: ""), let innerLeft = number(interior + "Left"),
            let innerTop = number(interior + "Top")
        {
            func span(_ start: Double, _ length: Double, _ most: Double) -> (Int, Int)? {
                let (low, high) = (
                    max(0, start).rounded(.up), min(most, start + length).rounded(.down)
                )
                return high > low ? (Int(low), Int(high - low)) : nil
            }
            let columns = span(
                (innerLeft / x - left) / across, size.width / x / across, width)
            let rows = span((innerTop / y - top) / down, size.height / y / down, height)
            let isThere = columns != nil && rows != nil
            place[interior + "Left"] = .some(isThere ? columns?.0 : nil)
            place[interior + "Width"] = .some(isThere ? columns?.1 : nil)
            place[interior + "Top"] = .some(isThere ? rows?.0 : nil)
            place[interior + "Height"] = .some(isThere ? rows?.1 : nil)
        }
        return place
    }

    /// The most pixels of the result by which its two scales may differ.
    private static let scaleTolerance = 1.5
    /// The most by which the photo's proportions may differ from those that the panorama states.
    private static let shapeTolerance = 0.01
    private static let sideMax = 1e7

    private func size(_ name: String, unit: String = "Pixels") -> (width: Double, height: Double)? {
        guard let width = number("\(name)Width\(unit)"),
            let height = number("\(name)Height\(unit)"),
            width > 0, height > 0
        else { return nil }
        return (width, height)
    }

    private func number(_ name: String) -> Double? {
        guard let value = find("GPano:" + name, from: 0)?.value,
            let number = Double(Self.text(bytes[value])), abs(number) <= Self.sideMax
        else { return nil }
        return number
    }

    private func whole(_ number: Double) -> Int { Int(number.rounded()) }

    private static let panorama = [
        "UsePanoramaViewer", "CaptureSoftware", "StitchingSoftware", "ProjectionType",
        "PoseHeadingDegrees", "PosePitchDegrees", "PoseRollDegrees", "InitialViewHeadingDegrees",
        "InitialViewPitchDegrees", "InitialViewRollDegrees", "InitialHorizontalFOVDegrees",
        "InitialVerticalFOVDegrees", "InitialCameraDolly", "FirstPhotoDate", "LastPhotoDate",
        "SourcePhotosCount", "ExposureLockUsed", "CroppedAreaImageWidthPixels",
        "CroppedAreaImageHeightPixels", "FullPanoWidthPixels", "FullPanoHeightPixels",
        "CroppedAreaLeftPixels", "CroppedAreaTopPixels", "LargestValidInteriorRectLeft",
        "LargestValidInteriorRectTop", "LargestValidInteriorRectWidth",
        "LargestValidInteriorRectHeight", "SourceImageCreateTime", "SourceImagePaths",
    ]
}
