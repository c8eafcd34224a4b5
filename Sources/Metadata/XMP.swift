import Adjustments

/// XMP packets made true by changing single values in their text.
///
/// The packet is not parsed and written anew, so whatever else stands in it stays as it is. Sources:
/// XMP specification part 1 (ISO 16684-1) §7 for the two ways in which a simple property can stand, as an
/// attribute or as an element; part 2 §3 for the `tiff:`, `exif:` and `xmp:` properties.
public enum XMP {
    /// The same packet with the facts of a rendered picture.
    ///
    /// - Returns: nil when the bytes are no UTF-8, or carry the picture of the original in a way that
    ///   could not be taken out.
    public static func revised(_ bytes: [UInt8], to facts: PictureFacts) -> [UInt8]? {
        guard var text = String(validating: bytes, as: UTF8.self) else { return nil }
        let values = [
            "tiff:Orientation": "1",
            "tiff:ImageWidth": "\(facts.size.width)", "tiff:ImageLength": "\(facts.size.height)",
            "exif:PixelXDimension": "\(facts.size.width)",
            "exif:PixelYDimension": "\(facts.size.height)",
        ]
        for (name, value) in values { replace(name, by: value, in: &text) }
        if let isSRGB = facts.newColourIsSRGB {
            replace("exif:ColorSpace", by: isSRGB ? "1" : "65535", in: &text)
            // Photoshop's name of the profile, which the embedded one now contradicts.
            remove("photoshop:ICCProfile", from: &text)
        }
        remove("xmp:Thumbnails", from: &text)
        if facts.removesLocation {
            for name in names(startingWith: "exif:GPS", in: text) { remove(name, from: &text) }
        }
        return Array(text.utf8)
    }

    /// Names of properties with a prefix, each once.
    private static func names(startingWith prefix: String, in text: String) -> Set<String> {
        var names: Set<String> = []
        var rest = text[...]
        while let place = rest.firstRange(of: prefix) {
            rest = rest[place.upperBound...]
            names.insert(prefix + rest.prefix { $0.isLetter || $0.isNumber })
        }
        return names
    }

    private static func replace(_ name: String, by value: String, in text: inout String) {
        change(name, in: &text) { property in
            if let inner = property.value { return (inner, value) }
            return nil
        }
    }

    private static func remove(_ name: String, from text: inout String) {
        change(name, in: &text) { ($0.whole, "") }
    }

    /// Where a property stands.
    private struct Property {
        let whole: Range<String.Index>
        /// What is between the quotes or the tags; nil for an element that closes itself.
        let value: Range<String.Index>?
    }

    private static func change(
        _ name: String, in text: inout String,
        _ edit: (Property) -> (Range<String.Index>, String)?
    ) {
        var start = text.startIndex
        while let property = find(name, in: text, from: start) {
            let next = text.distance(from: text.startIndex, to: property.whole.lowerBound)
            if let (range, replacement) = edit(property) {
                text.replaceSubrange(range, with: replacement)
            }
            // One character on, so that each round comes nearer to the end.
            guard
                let place = text.index(
                    text.startIndex, offsetBy: next + 1, limitedBy: text.endIndex)
            else { return }
            start = place
        }
    }

    private static func find(_ name: String, in text: String, from start: String.Index) -> Property?
    {
        var place = start
        while let found = text[place...].firstRange(of: name) {
            place = found.upperBound
            let before =
                found.lowerBound == text.startIndex
                ? " " : text[text.index(before: found.lowerBound)]
            if before == "<" {
                if let element = element(name, in: text, at: found) { return element }
            } else if before.isWhitespace, let attribute = attribute(in: text, at: found) {
                return attribute
            }
        }
        return nil
    }

    /// `name="value"`, with the white space before it.
    private static func attribute(in text: String, at name: Range<String.Index>) -> Property? {
        var rest = text[name.upperBound...].drop { $0.isWhitespace }
        guard rest.popFirst() == "=" else { return nil }
        rest = rest.drop { $0.isWhitespace }
        guard let quote = rest.popFirst(), quote == "\"" || quote == "'",
            let end = rest.firstIndex(of: quote)
        else { return nil }
        let before =
            name.lowerBound > text.startIndex
            ? text.index(before: name.lowerBound) : name.lowerBound
        return Property(whole: before..<text.index(after: end), value: rest.startIndex..<end)
    }

    /// `<name>value</name>` or `<name/>`.
    private static func element(
        _ name: String, in text: String, at found: Range<String.Index>
    ) -> Property? {
        let open = text.index(before: found.lowerBound)
        guard let next = text[found.upperBound...].first,
            next == ">" || next == "/" || next.isWhitespace,
            let tagEnd = text[found.upperBound...].firstIndex(of: ">")
        else { return nil }
        let inner = text.index(after: tagEnd)
        if text[text.index(before: tagEnd)] == "/" {
            return Property(whole: open..<inner, value: nil)
        }
        guard let close = text[inner...].firstRange(of: "</\(name)>") else { return nil }
        return Property(whole: open..<close.upperBound, value: inner..<close.lowerBound)
    }
}
