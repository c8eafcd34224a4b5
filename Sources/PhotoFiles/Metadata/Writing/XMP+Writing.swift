public import Edits

/// The properties of XMP that ``Edits/MetadataChanges`` name.
///
/// Sources: IPTC Photo Metadata Standard 2022.1 for the properties and their shapes, PLUS 1.2 for the licensor, XMP specification
/// part 1 (ISO 16684-1) §7.
enum XMPProperty {
    /// A text.
    case text(String, String?)
    /// A text in the language `x-default`, which replaces those in other languages, as exiftool does it.
    case language(String, String?)
    /// `rdf:Seq` or `rdf:Bag`.
    case list(String, kind: String, [String])
    /// Fields of a structure; nil removes one, and others stay.
    case structure(String, [(String, String?)])
    /// Fields of the first structure of a list.
    case structures(String, kind: String, [(String, String?)])
    /// A text that is only replaced where there is one.
    case replaced(String, String)

    var name: String {
        switch self {
        case .text(let name, _), .language(let name, _), .list(let name, _, _),
            .structure(let name, _), .structures(let name, _, _), .replaced(let name, _):
            name
        }
    }

    /// Name spaces beside those of ``XMPNames``.
    static let spaces = [
        "dc": "http://purl.org/dc/elements/1.1/",
        "xmpRights": "http://ns.adobe.com/xap/1.0/rights/",
        "plus": "http://ns.useplus.org/ldf/xmp/1.0/",
        "Iptc4xmpCore": "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
    ].merging(ValueCopies.spaces) { first, _ in first }

    static func uri(_ prefix: some StringProtocol) -> String {
        spaces[String(prefix)] ?? XMPNames.spaces[String(prefix)] ?? ""
    }

    /// Returns the properties of changes without placeholders, in the order of the contract's fields: those that are written, and copies
    /// that go.
    static func all(of changes: MetadataChanges) -> [XMPProperty] {
        var properties: [XMPProperty] = []
        for field in MetadataChanges.Field.allCases {
            guard let value = changes[field] else { continue }
            properties += all(of: field, value)
            properties += ValueCopies.xmp(field).map { .text($0, nil) }
        }
        let places: [(MetadataChanges.Field, String)] = [
            (.city, "Iptc4xmpExt:City"), (.state, "Iptc4xmpExt:ProvinceState"),
            (.country, "Iptc4xmpExt:CountryName"),
        ]
        let place = places.flatMap { field, name -> [(String, String?)] in
            guard let value = changes[field] else { return [] }
            return [(name, value.literal)] + (ValueCopies.ofPlace[field] ?? []).map { ($0, nil) }
        }
        if !place.isEmpty {
            properties.append(
                .structures("Iptc4xmpExt:LocationShown", kind: "rdf:Bag", place))
        }
        return properties
    }

    private static func all(
        of field: MetadataChanges.Field, _ value: MetadataChanges.Value
    ) -> [XMPProperty] {
        let text = value.literal
        switch field {
        case .creator: return [.list("dc:creator", kind: "rdf:Seq", value.texts)]
        case .rights:
            return [
                .language("dc:rights", text),
                .text("xmpRights:Marked", text == nil ? nil : "True"),
            ]
        case .caption: return [.language("dc:description", text)]
        case .date:
            return ["photoshop:DateCreated", "exif:DateTimeOriginal"].map {
                .text($0, value.date?.text)
            }
        case .title: return [.language("dc:title", text)]
        case .headline: return [.text("photoshop:Headline", text)]
        case .keywords: return [.list("dc:subject", kind: "rdf:Bag", value.texts)]
        case .rating:
            if case .rating(let rating) = value { return [.text("xmp:Rating", "\(rating)")] }
            return [.text("xmp:Rating", nil)]
        case .credit: return [.text("photoshop:Credit", text)]
        case .source: return [.text("photoshop:Source", text)]
        case .city: return [.text("photoshop:City", text)]
        case .state: return [.text("photoshop:State", text)]
        case .country: return [.text("photoshop:Country", text)]
        case .usageTerms: return [.language("xmpRights:UsageTerms", text)]
        case .webStatement: return [.text("xmpRights:WebStatement", text)]
        case .licensorURL:
            return [
                .structures("plus:Licensor", kind: "rdf:Seq", [("plus:LicensorURL", text)])
            ]
        case .contact:
            guard case .contact(let parts) = value else {
                return [.text("Iptc4xmpCore:CreatorContactInfo", nil)]
            }
            return [
                .structure(
                    "Iptc4xmpCore:CreatorContactInfo",
                    MetadataChanges.ContactField.allCases.compactMap { part in
                        parts[part].map { ("Iptc4xmpCore:" + part.property, $0.literal) }
                    })
            ]
        case .modified:
            guard let date = value.date else { return [] }
            return [
                .replaced("xmp:ModifyDate", date.text), .replaced("xmp:MetadataDate", date.text),
            ]
        }
    }
}

extension MetadataChanges.Value {
    /// The texts of a list; none if it is removed.
    var texts: [String] {
        if case .list(let texts) = self { texts.compactMap(\.literal) } else { [] }
    }
    var date: MetadataDate? { if case .date(let date) = self { date } else { nil } }
}

extension MetadataChanges.ContactField {
    fileprivate var property: String {
        switch self {
        case .email: "CiEmailWork"
        case .url: "CiUrlWork"
        case .phone: "CiTelWork"
        case .address: "CiAdrExtadr"
        case .city: "CiAdrCity"
        case .postcode: "CiAdrPcode"
        case .country: "CiAdrCtry"
        }
    }
}

extension XMP {
    /// Writes values into a packet, each in its place; those that it lacks are added in an element of their own.
    ///
    /// - Parameters:
    ///   - changes: without placeholders.
    ///   - bytes: the packet, or nil for none.
    ///   - texts: the photo's texts before; comments and names that say the same are copies of them.
    /// - Returns: the packet, or nil if there is nothing to say, and whether it replaces one that cannot be read.
    public static func written(
        _ changes: MetadataChanges, to bytes: [UInt8]?, replacing texts: PhotoTexts = PhotoTexts()
    ) -> (packet: [UInt8]?, isReplaced: Bool) {
        let properties = XMPProperty.all(of: changes)
        guard !properties.isEmpty else { return (bytes, false) }
        if let bytes, let writer = XMPWriter(bytes) {
            var untrue = ValueCopies.ofFile
            let comment = writer.text(ValueCopies.comment)
            if ValueCopies.isCopy(comment: comment, of: texts.caption, writing: changes) {
                untrue.append(ValueCopies.comment)
            }
            untrue += ValueCopies.likely(changes, of: texts).filter { property, same in
                writer.says(nothingBut: same, in: property)
            }.map(\.property)
            return (writer.written(properties + untrue.map { .text($0, nil) }), false)
        }
        let texts = properties.compactMap { XMPText.element($0) }
        guard !texts.isEmpty else { return (nil, bytes != nil) }
        return (packet(of: XMPText.description(texts, about: "")), bytes != nil)
    }
}

/// Elements as text, with the name spaces that they use.
enum XMPText {
    struct Element {
        let text: String
        /// Usual prefixes.
        let prefixes: Set<String>
    }

    /// Returns the element of a property; nil if it has no value.
    static func element(_ property: XMPProperty) -> Element? {
        let content: String?
        var attributes = ""
        switch property {
        case .text(_, let text): content = text.map(escaped)
        case .replaced: content = nil
        case .language(_, let text):
            content = text.map {
                #"<rdf:Alt><rdf:li xml:lang="x-default">\#(escaped($0))</rdf:li></rdf:Alt>"#
            }
        case .list(_, let kind, let texts):
            content =
                texts.isEmpty
                ? nil
                : "<\(kind)>" + texts.map { "<rdf:li>\(escaped($0))</rdf:li>" }.joined()
                    + "</\(kind)>"
        case .structure(_, let values):
            content = fields(values)
            attributes = #" rdf:parseType="Resource""#
        case .structures(_, let kind, let values):
            content = fields(values).map {
                #"<\#(kind)><rdf:li rdf:parseType="Resource">\#($0)</rdf:li></\#(kind)>"#
            }
        }
        guard let content else { return nil }
        let name = property.name
        return Element(
            text: "<\(name)\(attributes)>\(content)</\(name)>",
            prefixes: [String(name.prefix { $0 != ":" })])
    }

    private static func fields(_ fields: [(String, String?)]) -> String? {
        let text = fields.compactMap { name, value in
            value.map { "<\(name)>\(escaped($0))</\(name)>" }
        }.joined()
        return text.isEmpty ? nil : text
    }

    /// Returns a description of its own that declares what its elements use.
    static func description(_ elements: [Element], about: String) -> String {
        let prefixes = elements.reduce(into: Set<String>()) { $0.formUnion($1.prefixes) }
        let spaces = prefixes.sorted().map { " " + declaration($0) }.joined()
        return #"<rdf:Description rdf:about="\#(about)"\#(spaces)>"#
            + elements.map(\.text).joined() + "</rdf:Description>"
    }

    static func declaration(_ prefix: String) -> String {
        #"xmlns:\#(prefix)="\#(XMPProperty.uri(prefix))""#
    }

    /// Returns a text as content of an element or an attribute (XML 1.0 §2.4; a line feed or tab of an attribute would become a space,
    /// §3.3.3).
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&apos;"
            case "\n": escaped += "&#xA;"
            case "\t": escaped += "&#x9;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Returns the text that some bytes spell: references are resolved, and space at the ends is left out.
    static func unescaped(_ bytes: ArraySlice<UInt8>) -> String { resolved(XMPPacket.text(bytes)) }

    /// Returns the text that some bytes spell, with space at the ends.
    static func resolved(_ bytes: ArraySlice<UInt8>) -> String {
        resolved(String(decoding: bytes, as: UTF8.self))
    }

    private static func resolved(_ raw: String) -> String {
        guard raw.contains("&") else { return raw }
        var text = ""
        var rest = raw[...]
        while let start = rest.firstIndex(of: "&") {
            text += rest[..<start]
            rest = rest[start...]
            guard let end = rest.prefix(referenceMax).firstIndex(of: ";") else {
                text.append("&")
                rest = rest.dropFirst()
                continue
            }
            let name = rest[rest.index(after: start)..<end]
            text += reference(name) ?? String(rest[...end])
            rest = rest[rest.index(after: end)...]
        }
        return text + rest
    }

    /// The longest reference: `&#x10FFFF;`, perhaps with leading zeros.
    private static let referenceMax = 16
    private static let references = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    private static func reference(_ name: Substring) -> String? {
        if let text = references[String(name)] { return text }
        guard name.first == "#" else { return nil }
        let digits = name.dropFirst()
        let code =
            digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
        return code.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }
}

/// A packet whose values are written one by one.
struct XMPWriter {
    let bytes: [UInt8]
    private let names: XMPNames
    private let rdf: XMPElement
    private let descriptions: [XMPElement]

    /// Reads a packet; nil if it is not UTF-8, not well-formed, or no RDF.
    init?(_ bytes: [UInt8]) {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        let names = XMPNames(of: bytes, further: XMPProperty.spaces)
        guard !names.isBeyondLimits, names.declaresRDF,
            let root = XMPElement(bytes, in: 0..<bytes.count)
        else { return nil }
        let written = names.written("rdf:RDF")
        guard
            let rdf = written.contains(root.name)
                ? root : root.children.first(where: { written.contains($0.name) }),
            // An empty-element tag has no place for a description.
            !rdf.isEmptyTag
        else { return nil }
        let described = names.written("rdf:Description")
        (self.bytes, self.names, self.rdf) = (bytes, names, rdf)
        descriptions = rdf.children.filter { described.contains($0.name) }
    }

    private typealias Change = (range: Range<Int>, new: [UInt8])

    func written(_ properties: [XMPProperty]) -> [UInt8] {
        var changes: [Change] = []
        var added: [XMPText.Element] = []
        for property in properties {
            let (own, isWritten) = self.changes(property)
            changes += own
            if !isWritten, let element = XMPText.element(property) { added.append(element) }
        }
        if !added.isEmpty {
            let end = rdf.content.upperBound
            changes.append((end..<end, Array(description(added).utf8)))
        }
        var packet = XMPPacket(bytes)
        packet.apply(changes)
        return packet.bytes
    }

    /// Returns a description that is about the same as the others; the XMP specification wants one subject (part 1 §7.4).
    private func description(_ elements: [XMPText.Element]) -> String {
        let abouts = names.written("rdf:about")
        let about =
            descriptions.lazy.compactMap { description in
                description.attributes.first { abouts.contains($0.name) }
            }.first.map { String(decoding: bytes[$0.value], as: UTF8.self) } ?? ""
        let text = XMPText.description(elements, about: about.replacing("\"", with: "&quot;"))
        guard rdf.name != "rdf:RDF" else { return text }
        let start = "<rdf:Description"
        return text.replacing(start, with: "\(start) \(XMPText.declaration("rdf"))")
    }

    /// Returns the changes in place, and whether they write the whole value.
    private func changes(_ property: XMPProperty) -> ([Change], isWritten: Bool) {
        let found = fields(property.name)
        switch property {
        case .structure(_, let values):
            guard let element = found.first(where: { $0.element != nil })?.element else {
                return (removed(found), false)
            }
            guard let changes = changes(values, in: element) else {
                return (removed(found), false)
            }
            return (changes, true)
        case .structures(_, _, let values):
            guard let element = found.first(where: { $0.element != nil })?.element,
                let item = element.items(names).first
            else { return (removed(found), false) }
            guard let changes = changes(values, in: item) else {
                return (removed(found), false)
            }
            return (changes, true)
        case .replaced(_, let text):
            let new = Array(XMPText.escaped(text).utf8)
            return (
                found.filter { $0.element?.children.isEmpty ?? true }.map { ($0.value, new) }, true
            )
        case .text, .language, .list:
            guard let new = XMPText.element(property) else { return (removed(found), true) }
            if case .text(_, let text) = property, let text, found.count == 1,
                found[0].element == nil
            {
                return ([(found[0].value, Array(XMPText.escaped(text).utf8))], true)
            }
            // Under other prefixes than the usual ones, the new element is written where it declares its own.
            guard rdf.name == "rdf:RDF",
                let first = found.first(where: { $0.element?.name == property.name })
            else { return (removed(found), false) }
            return (
                found.map { field in
                    (field.whole, field.whole == first.whole ? Array(new.text.utf8) : [])
                }, true
            )
        }
    }

    private func removed(_ fields: [XMPElement.Field]) -> [Change] {
        fields.map { ($0.whole, []) }
    }

    /// Returns all places of a property of the photo: not those within other properties.
    func fields(_ name: String) -> [XMPElement.Field] {
        let written = names.written(name)
        return descriptions.flatMap { description in
            description.attributes.filter { written.contains($0.name) }.map {
                XMPElement.Field(value: $0.value, whole: $0.whole, element: nil)
            }
                + description.children.filter { written.contains($0.name) }.map {
                    XMPElement.Field(value: $0.content, whole: $0.whole, element: $0)
                }
        }
    }

    /// Returns the changes of fields of a structure; nil if a new one has no place in its form.
    private func changes(
        _ values: [(String, String?)], in structure: XMPElement
    ) -> [Change]? {
        var changes: [Change] = []
        var missing: [(String, [UInt8])] = []
        for (name, value) in values {
            let field = structure.field(name, names)
            let text = value.map { Array(XMPText.escaped($0).utf8) }
            switch (field, text) {
            case (nil, nil): continue
            case (let field?, nil): changes.append((field.whole, []))
            case (let field?, let text?):
                if let element = field.element, element.isEmptyTag {
                    let tags = (Array("<\(element.name)>".utf8), Array("</\(element.name)>".utf8))
                    changes.append((field.whole, tags.0 + text + tags.1))
                } else {
                    changes.append((field.value, text))
                }
            case (nil, let text?): missing.append((name, text))
            }
        }
        guard !missing.isEmpty else { return changes }
        return added(missing, to: structure).map { changes + [$0] }
    }

    /// Returns the addition of fields of one name space: elements where the structure has elements, else attributes.
    private func added(_ fields: [(String, [UInt8])], to structure: XMPElement) -> Change? {
        let described = names.written("rdf:Description")
        let inner = structure.children.first { described.contains($0.name) } ?? structure
        let prefix = String(fields[0].0.prefix { $0 != ":" })
        let space = Array(" \(XMPText.declaration(prefix))".utf8)
        let parses = names.written("rdf:parseType")
        let takesElements =
            described.contains(inner.name)
            || inner.attributes.contains { parses.contains($0.name) }
        if !inner.isEmptyTag, takesElements {
            let end = inner.content.upperBound
            let elements = fields.flatMap { name, text -> [UInt8] in
                let (start, close) = (Array("<\(name)".utf8), Array("</\(name)>".utf8))
                return start + space + [UInt8(ascii: ">")] + text + close
            }
            return (end..<end, elements)
        }
        guard !inner.attributes.contains(where: { $0.name == "xmlns:" + prefix }) else {
            return nil
        }
        let attributes = fields.flatMap { name, text -> [UInt8] in
            Array(" \(name)=\"".utf8) + text + [UInt8(ascii: "\"")]
        }
        return (inner.tagEnd..<inner.tagEnd, space + attributes)
    }
}

// MARK: Reading

extension XMPWriter {
    /// Returns the text of a property: of a list of languages the usual one, and of others the first.
    func text(_ name: String) -> String? {
        guard let field = fields(name).first else { return nil }
        guard let element = field.element else { return Self.some(bytes[field.value]) }
        let items = element.items(names)
        let item =
            items.first { item in
                item.attributes.contains {
                    $0.name == "xml:lang" && bytes[$0.value].elementsEqual("x-default".utf8)
                }
            } ?? items.first
        if let item { return item.children.isEmpty ? Self.some(bytes[item.content]) : nil }
        return element.children.isEmpty ? Self.some(bytes[element.content]) : nil
    }

    /// Returns the texts of a list, or the one of a simple property.
    func texts(_ name: String) -> [String] {
        guard let field = fields(name).first else { return [] }
        let items = field.element?.items(names) ?? []
        guard !items.isEmpty else { return [text(name)].compactMap(\.self) }
        return items.filter { $0.children.isEmpty }.compactMap { Self.some(bytes[$0.content]) }
    }

    func has(_ name: String) -> Bool { !fields(name).isEmpty }

    private static func some(_ bytes: ArraySlice<UInt8>) -> String? {
        let text = XMPText.unescaped(bytes)
        return text.isEmpty ? nil : text
    }
}
