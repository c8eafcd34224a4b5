public import Edits

/// The paths of a picture in Photoshop's resources, and the name of the one by which it is cut out, as shops deliver cut-outs.
///
/// The points of a path are fractions of the picture, so paths stay true while nothing moves. Source: Adobe Photoshop File Formats, "Image
/// Resource IDs" (0x07D0 to 0x0BB6: paths; 0x0BB7: name of the clipping path) and "Path resource format".
public struct PhotoshopPaths: Sendable, Equatable {
    /// The resources as they are in the file.
    let resources: [UInt8]

    private static let ids = 0x07D0...0x0BB7

    /// Reads a block of a JPEG, or resources without its header; nil if there is no path.
    public init?(_ block: [UInt8]) {
        let paths = IPTC.resources(of: block).filter { Self.ids.contains($0.id) }
        guard !paths.isEmpty else { return nil }
        resources = paths.flatMap { Array(block[$0.whole]) }
    }

    /// The part of the paths that stays where metadata are removed; nil for nothing.
    public func kept(by strip: Recipe.Strip) -> PhotoshopPaths? {
        switch strip {
        case .none: self
        case .gps: withoutCoordinates
        case .all: nil
        }
    }

    private static let clippingID = 0x0BB7
    /// Bytes of a record of a path: its kind, and numbers.
    private static let recordBytes = 26

    /// The paths with names as Photoshop gives them in place of names in which a place is written, without resources that are none; nil if
    /// nothing is left.
    var withoutCoordinates: PhotoshopPaths? {
        var (kept, renamed) = ([UInt8](), [[UInt8]: [UInt8]]())
        // The name of the clipping path is behind the paths.
        for resource in IPTC.resources(of: resources) {
            let head = resource.whole.lowerBound
            let name = Self.text(resources[(head + 6)...])
            let content = resources[resource.content]
            if resource.id == Self.clippingID {
                let path = Self.text(content)
                guard let new = CoordinateText.isIn(path) ? renamed[path] : path,
                    !CoordinateText.isIn(name)
                else { continue }
                kept += Self.resource(
                    resource.id, name, Self.pascal(new) + content.dropFirst(1 + path.count))
                continue
            }
            guard content.count % Self.recordBytes == 0 else { continue }
            var new = name
            if CoordinateText.isIn(name) {
                new = Array("Path \(resource.id - Self.ids.lowerBound + 1)".utf8)
                renamed[name] = new
            }
            kept += Self.resource(resource.id, new, Array(content))
        }
        return kept.isEmpty ? nil : PhotoshopPaths(resources: kept)
    }

    private init(resources: [UInt8]) { self.resources = resources }

    /// Returns the text that begins with its length in one byte.
    private static func text(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(bytes.dropFirst().prefix(Int(bytes.first ?? 0)))
    }

    private static func pascal(_ text: [UInt8]) -> [UInt8] { [UInt8(text.count)] + text }

    private static func resource(_ id: Int, _ name: [UInt8], _ content: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.add(Array("8BIM".utf8))
        writer.add(id, 2)
        writer.add(pascal(name))
        // Both the name with its length and the content end at even places.
        if name.count % 2 == 0 { writer.add(0, 1) }
        writer.add(content.count, 4)
        writer.add(content)
        if content.count % 2 == 1 { writer.add(0, 1) }
        return writer.bytes
    }
}

extension IPTC {
    /// Returns the content of a JPEG's segment; nil if there is nothing for it.
    public static func photoshopBlock(_ iptc: IPTC?, _ paths: PhotoshopPaths?) -> [UInt8]? {
        guard iptc != nil || paths != nil else { return nil }
        return header + (iptc?.resources ?? []) + (paths?.resources ?? [])
    }

    /// Returns the resources of a TIFF, which has the records in a tag of their own; nil for none.
    static func tiffResources(_ iptc: IPTC?, _ paths: PhotoshopPaths?) -> [UInt8]? {
        let bytes = (iptc?.digestResource ?? []) + (paths?.resources ?? [])
        return bytes.isEmpty ? nil : bytes
    }
}
