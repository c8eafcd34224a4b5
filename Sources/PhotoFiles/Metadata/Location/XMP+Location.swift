import Edits

/// A packet without the place of the photo.
///
/// Only properties of name spaces that are known stay, at any depth: makers of drones and phones have some of their own for coordinates
/// (`drone-dji:GpsLongtitude`). Of those, the names of coordinates go, and each value in which a text has coordinates. A packet that cannot be
/// read goes as a whole.
struct PlacelessXMP {
    private let bytes: [UInt8]
    /// The URIs that each prefix is declared for, anywhere in the packet.
    private let declared: [String: Set<String>]

    /// Returns the packet without places; nil if it cannot be read.
    static func packet(_ bytes: [UInt8]) -> [UInt8]? {
        guard let declared = XMPNames.prefixes(in: bytes),
            let root = XMPElement(bytes, in: 0..<bytes.count)
        else { return nil }
        let packet = PlacelessXMP(bytes: bytes, declared: declared)
        guard packet.space(of: root.name).isKnown, !namesPlace(root.name),
            !CoordinateText.isIn(root.text(bytes))
        else { return nil }
        var changes: [(range: Range<Int>, new: [UInt8])] = []
        packet.remove(from: root, within: "", &changes)
        var element = XMPPacket(bytes)
        element.apply(changes + [(root.whole.upperBound..<bytes.count, [])])
        return XMP.packet(around: Array(element.bytes[root.whole.lowerBound...]))
    }

    private func remove(
        from element: XMPElement, within outer: String,
        _ changes: inout [(range: Range<Int>, new: [UInt8])]
    ) {
        for attribute in element.attributes {
            if let prefix = Self.prefix(declaredBy: attribute.name) {
                // Nothing of an unknown name space stays, and its name may be anything.
                let isKnown = declared[prefix]?.allSatisfy(Self.known.contains) == true
                if !isKnown || Self.namesPlace(attribute.name) {
                    changes.append((attribute.whole, []))
                }
                continue
            }
            let space = space(of: attribute.name, isAttribute: true)
            let value = bytes[attribute.value]
            // No well-formed value has a "<", so readers would differ in what this one is.
            if !space.isKnown || Self.namesPlace(attribute.name)
                || value.contains(UInt8(ascii: "<"))
                || has(coordinates: XMPText.resolved(value), in: attribute.name, of: space.uri)
            {
                changes.append((attribute.whole, []))
            }
        }
        // Comments and instructions are no properties.
        for aside in element.asides where aside.text == nil { changes.append((aside.whole, [])) }
        let places = self.places(amongItems: element, within: outer)
        for (index, child) in element.children.enumerated() {
            let space = space(of: child.name)
            // Items of lists mean what the property does.
            let meaning = space.uri == XMPNames.rdf ? outer : space.uri
            if !space.isKnown || Self.namesPlace(child.name) || places.contains(index)
                || has(coordinates: child.text(bytes), in: child.name, of: meaning)
                || isListOfPlaces(child, meaning)
            {
                changes.append((child.whole, []))
            } else {
                remove(from: child, within: meaning, &changes)
            }
        }
    }

    /// Whether an element is a property whose list has coordinates in all its items: no empty list stays.
    private func isListOfPlaces(_ element: XMPElement, _ space: String) -> Bool {
        let lists = element.children.filter(isList)
        let items = lists.flatMap(\.children)
        return !items.isEmpty && lists.count == element.children.count
            && lists.allSatisfy { list in
                let places = self.places(amongItems: list, within: space)
                return list.children.indices.allSatisfy { index in
                    let item = list.children[index]
                    return places.contains(index)
                        || has(coordinates: item.text(bytes), in: item.name, of: space)
                }
            }
    }

    private func isList(_ element: XMPElement) -> Bool {
        space(of: element.name).uri == XMPNames.rdf
            && [":Bag", ":Seq", ":Alt"].contains { element.name.hasSuffix($0) }
    }

    /// Returns which items of a list are coordinates together, such as keywords.
    private func places(amongItems list: XMPElement, within space: String) -> Set<Int> {
        guard isList(list) else { return [] }
        let texts = list.children.map { $0.text(bytes) }
        guard !Self.numbers.contains(space) || Self.mayBePlace(texts) else { return [] }
        return CoordinateText.places(in: texts.map { Array($0.utf8) })
    }

    /// Whether the items of a list of settings may be a latitude, a longitude and an altitude: they are numbers beyond those of light and colour.
    private static func mayBePlace(_ items: [String]) -> Bool {
        let numbers = items.compactMap { Double($0.filter { !$0.isWhitespace }) }
        return numbers.count == items.count && (2...3).contains(numbers.count)
            && numbers.contains { abs($0) > settingMax }
    }

    /// The most of a setting of light or colour: stops of a gain map, radians of a hue.
    private static let settingMax = 16.0

    private func has(coordinates text: String, in name: String, of space: String) -> Bool {
        // A table of colours in Base85.
        let isTable = Self.numbers.contains(space) && name.contains(":Table_")
        return !isTable
            && CoordinateText.isIn(text, readsLists: !Self.numbers.contains(space))
    }

    /// The prefix that an attribute declares, empty for the default name space; nil for another attribute.
    private static func prefix(declaredBy name: String) -> String? {
        if name == "xmlns" { return "" }
        return name.hasPrefix("xmlns:") ? String(name.dropFirst(6)) : nil
    }

    private static func namesPlace(_ name: String) -> Bool {
        if CoordinateText.isIn(name) { return true }
        let name = name.lowercased()
        return ["gps", "latitude", "longitude", "longtitude", "geohash"].contains {
            name.contains($0)
        } || wholeNames.contains(String(name.drop { $0 != ":" }.dropFirst()))
    }

    private static let wholeNames: Set = [
        "lat", "lon", "lng", "long", "latlng", "latlon", "lonlat", "geo", "coords", "coordinates",
        "what3words",
    ]

    /// Returns the name space of an element or attribute. A prefix that is declared for several counts as known only if all are.
    private func space(of name: String, isAttribute: Bool = false) -> (uri: String, isKnown: Bool) {
        let prefix = name.contains(":") ? String(name.prefix { $0 != ":" }) : ""
        if prefix == "xml" { return ("", true) }
        // An attribute without a prefix is in no name space; RDF had such ones.
        if isAttribute, prefix.isEmpty { return ("", Self.bareAttributes.contains(name)) }
        guard let uris = declared[prefix] else {
            let usual = Self.usual[prefix]
            return (usual ?? "", usual != nil)
        }
        return (uris.sorted().first ?? "", uris.allSatisfy { Self.known.contains($0) })
    }

    private static let bareAttributes: Set = [
        "about", "ID", "nodeID", "parseType", "resource", "datatype",
    ]

    /// Name spaces whose lists are of numbers that are no places: masks and points of develop settings, regions, panoramas, gain maps, depth.
    private static let numbers: Set = [
        "http://ns.adobe.com/camera-raw-settings/1.0/", "http://ns.google.com/photos/1.0/panorama/",
        "http://ns.google.com/photos/1.0/depthmap/", "http://ns.google.com/photos/1.0/focus/",
        "http://ns.adobe.com/xmp/sType/Area#", "http://ns.adobe.com/xap/1.0/sType/Dimensions#",
        "http://ns.microsoft.com/photo/1.2/t/Region#", "http://ns.apple.com/faceinfo/1.0/",
        "http://ns.adobe.com/hdr-gain-map/1.0/", "http://ns.apple.com/HDRGainMap/1.0/",
        "http://ns.apple.com/pixeldatainfo/1.0/", "http://ns.apple.com/depthData/1.0/",
    ]

    /// Name spaces with no property for coordinates but those that ``namesPlace(_:)`` names. Sources: XMP specification part 2, IPTC Photo
    /// Metadata Standard 2022.1, EXIF 2.32 for XMP, PLUS 1.2, MWG 2.0, and those of ``XMPNames``.
    private static let known: Set = numbers.union(XMPProperty.spaces.values).union([
        XMPNames.rdf, "adobe:ns:meta/", "http://www.w3.org/XML/1998/namespace",
        "http://ns.adobe.com/tiff/1.0/", "http://ns.adobe.com/exif/1.0/",
        "http://cipa.jp/exif/1.0/",
        "http://ns.adobe.com/exif/1.0/aux/", "http://ns.adobe.com/photoshop/1.0/",
        "http://ns.adobe.com/xap/1.0/", "http://ns.adobe.com/xap/1.0/mm/",
        "http://ns.adobe.com/xap/1.0/sType/ResourceRef#",
        "http://ns.adobe.com/xap/1.0/sType/ResourceEvent#",
        "http://ns.adobe.com/xap/1.0/sType/Version#", "http://ns.adobe.com/xap/1.0/sType/Font#",
        "http://ns.adobe.com/xap/1.0/sType/ManifestItem#", "http://ns.adobe.com/xap/1.0/g/",
        "http://ns.adobe.com/xap/1.0/g/img/", "http://ns.adobe.com/xap/1.0/t/pg/",
        "http://ns.adobe.com/xmp/Identifier/qual/1.0/", "http://ns.adobe.com/xmp/note/",
        "http://ns.adobe.com/pdf/1.3/", "http://ns.adobe.com/lightroom/1.0/",
        "http://iptc.org/std/Iptc4xmpExt/2008-02-29/", "http://creativecommons.org/ns#",
        "http://www.digikam.org/ns/1.0/", "http://ns.microsoft.com/photo/1.0/",
        "http://ns.microsoft.com/photo/1.0", "http://ns.microsoft.com/photo/1.2/",
        "http://ns.microsoft.com/photo/1.2/t/RegionInfo#",
        "http://www.metadataworkinggroup.com/schemas/regions/",
        "http://www.metadataworkinggroup.com/schemas/keywords/",
        "http://ns.google.com/photos/1.0/container/",
        "http://ns.google.com/photos/1.0/container/item/",
        "http://ns.apple.com/semanticSegmentationMatte/1.0/",
        "http://ns.apple.com/depthBlurEffect/1.0/",
        "http://ns.apple.com/portraitLightingEffect/1.0/",
        "http://ns.apple.com/adjustment-settings/1.0/",
    ])

    /// Known prefixes of packets that declare none.
    private static let usual: [String: String] = XMPProperty.spaces.merging(
        XMPNames.spaces.merging(["x": "adobe:ns:meta/"]) { first, _ in first }
    ) { first, _ in first }.filter { known.contains($0.value) }
}

extension XMP {
    /// Returns a packet of an element.
    fileprivate static func packet(around element: [UInt8]) -> [UInt8] {
        Array("<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>".utf8) + element
            + Array("<?xpacket end=\"w\"?>".utf8)
    }
}
