extension Mark {
    /// Reads the field `marks` of an object; no marks if it is missing.
    static func list(_ reader: JSONObjectReader) throws(Failure) -> [Mark] {
        guard reader.optional("marks") != nil else { return [] }
        let values = try reader.array("marks")
        guard values.count <= ContractLimits.marksMax else {
            throw Failure(
                .oversizedField,
                "\(reader.path).marks has \(values.count) marks; at most \(ContractLimits.marksMax) are allowed."
            )
        }
        var marks: [Mark] = []
        for (index, value) in values.enumerated() {
            marks.append(try Mark(value, at: "\(reader.path).marks[\(index)]"))
        }
        return marks
    }

    static let imageFields = [
        "at", "blend", "focus", "image", "margin", "opacity", "shadow", "tile", "turn", "unit",
        "width",
    ]
    static let textFields = [
        "at", "axes", "blend", "color", "focus", "fonts", "index", "lang", "margin", "maxWidth",
        "missing", "opacity", "overflow", "shadow", "size", "stroke", "text", "tile", "turn",
        "unit",
    ]

    /// The fields of a rendition's mark that a step `mark` does not have.
    package static let fieldsOfRenditions = Set(imageFields + textFields).subtracting([
        "at", "blend", "focus", "image", "margin", "opacity", "unit", "width",
    ]).sorted()

    private enum Unit: String, CaseIterable { case fraction, px }

    /// Reads a mark.
    ///
    /// - Throws: the first error, named by its path.
    public init(_ value: JSONValue, at path: String) throws(Failure) {
        var known = Self.textFields
        if case .object(let fields) = value {
            switch (fields["image"], fields["text"]) {
            case (nil, nil):
                throw Failure(
                    .missingField, "\(path) has neither image nor text; expected one of them.")
            case (.some, .some):
                throw Failure(
                    .invalidValue, "\(path) has both image and text; expected one of them.")
            case (.some, nil): known = Self.imageFields
            case (nil, .some): break
            }
        }
        let reader = try JSONObjectReader(value, at: path, known: known)
        let isInPixels = try reader.choice("unit") == Unit.px
        let lengths = LengthReader(isInPixels: isInPixels)
        let content: Content =
            if reader.optional("image") != nil {
                .image(
                    try reader.digest("image"), width: try lengths.positive("width", of: reader))
            } else {
                .text(try Text(reader, lengths))
            }
        self.init(
            content, at: try Focus(reader) ?? .center,
            margin: try lengths.optional("margin", of: reader) ?? .zero, isInPixels: isInPixels,
            opacity: try reader.number("opacity", in: 0...1) ?? 1,
            turn: try reader.number("turn", in: -360...360) ?? 0,
            tile: try reader.optional("tile").map { value throws(Failure) in
                try Tile(value, at: "\(path).tile", lengths)
            },
            blend: try reader.choice("blend") ?? .sourceOver,
            shadow: try reader.optional("shadow").map { value throws(Failure) in
                try Shadow(value, at: "\(path).shadow", lengths)
            },
            stroke: try reader.optional("stroke").map { value throws(Failure) in
                try Stroke(value, at: "\(path).stroke", lengths)
            })
    }

    /// The JSON: what has no default, and what differs from its default.
    public var json: JSONValue {
        var fields: [String: JSONValue] = [:]
        switch content {
        case .image(let digest, let width):
            fields["image"] = .string(digest)
            fields["width"] = width.json
        case .text(let text): fields = text.json
        }
        if at != .center { fields["focus"] = at.json }
        if margin != .zero { fields["margin"] = margin.json }
        if isInPixels { fields["unit"] = .string(Unit.px.rawValue) }
        if opacity != 1 { fields["opacity"] = .number(opacity) }
        if turn != 0 { fields["turn"] = .number(turn) }
        fields["tile"] = tile?.json
        if blend != .sourceOver { fields["blend"] = .string(blend.rawValue) }
        fields["shadow"] = shadow?.json
        fields["stroke"] = stroke.map {
            .object(["width": $0.width.json, "color": $0.color.json])
        }
        return .object(fields)
    }
}

extension Mark: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(JSONValue(from: decoder), at: "mark")
    }
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

extension Mark.Text {
    init(_ reader: JSONObjectReader, _ lengths: LengthReader) throws(Failure) {
        let text = try reader.string("text")
        try Self.check(text, at: "\(reader.path).text")
        // Reads the placeholders, so that a wrong one is reported before a photo is read.
        _ = try Placeholders(text, at: "\(reader.path).text")
        self.init(
            text, fonts: try Self.fonts(reader), size: try lengths.positive("size", of: reader),
            index: try reader.integer("index", in: 0...Self.indexMax) ?? 0,
            axes: try Self.axes(reader),
            maxWidth: try lengths.positiveOrNone("maxWidth", of: reader),
            color: try reader.color("color") ?? .white, language: try Self.language(reader),
            missing: try reader.choice("missing") ?? .fail,
            overflow: try reader.choice("overflow") ?? .cut)
    }

    /// The highest number of a face: collections have a few dozen.
    private static let indexMax = 255
    /// The longest tag of a language in characters: RFC 5646, §4.4.1.
    private static let languageMax = 35
    /// The values that an axis may have (OpenType, `fvar`: Fixed).
    private static let axisRange = -32_768.0...32_767.0

    /// Checks a text, with its placeholders or filled in.
    ///
    /// - Throws: `oversizedField` or `invalidValue`, with the name of the field.
    public static func check(_ text: String, at path: String) throws(Failure) {
        guard !text.isEmpty else {
            throw Failure(
                .invalidValue,
                "\(path) is empty; expected 1 to \(ContractLimits.textMax) characters.")
        }
        // A doubled brace is one character.
        let count = text.replacing("{{", with: "{").unicodeScalars.count
        guard count <= ContractLimits.textMax else {
            throw Failure(
                .oversizedField,
                "\(path) has \(count) characters; at most \(ContractLimits.textMax) are allowed.")
        }
        let control = text.unicodeScalars.first { $0.isControl && !$0.isFormat && $0 != "\n" }
        if let control {
            throw Failure(
                .invalidValue,
                "\(path) has the control character \(String(control).printable); only \\n is allowed."
            )
        }
        guard text.unicodeScalars.contains(where: { !$0.isInvisible }) else {
            throw Failure(
                .invalidValue,
                "\(path) has invisible characters alone; expected a text to draw.")
        }
        let lines = text.unicodeScalars.count { $0 == "\n" } + 1
        guard lines <= ContractLimits.textLinesMax else {
            throw Failure(
                .oversizedField,
                "\(path) has \(lines) lines; at most \(ContractLimits.textLinesMax) are allowed.")
        }
    }

    private static func fonts(_ reader: JSONObjectReader) throws(Failure) -> [String] {
        let values = try reader.array("fonts")
        var fonts: [String] = []
        for (index, value) in values.enumerated() {
            guard case .string(let digest) = value, ParameterDefinition.isDigest(digest) else {
                throw Failure(
                    .invalidValue,
                    "\(reader.path).fonts[\(index)] is \(value.canonical); expected \"sha256:\" and 64 hexadecimal digits "
                        + "of a font's file.")
            }
            fonts.append(digest)
        }
        guard (1...ContractLimits.fontsMax).contains(fonts.count) else {
            throw Failure(
                fonts.isEmpty ? .invalidValue : .oversizedField,
                "\(reader.path).fonts has \(fonts.count) fonts; expected 1 to \(ContractLimits.fontsMax)."
            )
        }
        return fonts
    }

    private static func axes(_ reader: JSONObjectReader) throws(Failure) -> [String: Double] {
        guard let value = reader.optional("axes") else { return [:] }
        guard case .object(let fields) = value, fields.count <= ContractLimits.axesMax else {
            throw Failure(
                .invalidValue,
                "\(reader.path).axes is \(value.kind); expected an object of at most \(ContractLimits.axesMax) axes, such as "
                    + "{\"wght\": 700}.")
        }
        var axes: [String: Double] = [:]
        for (tag, value) in fields.sorted(by: { $0.key < $1.key }) {
            let isTag =
                tag.utf8.count == 4
                && tag.utf8.allSatisfy { (UInt8(ascii: " ")...UInt8(ascii: "~")).contains($0) }
            guard isTag, case .number(let number) = value, axisRange.contains(number) else {
                throw Failure(
                    .invalidValue,
                    "\(reader.path).axes has \(tag.prefix(20).debugDescription): \(value.canonical); expected a tag of four "
                        + "characters and a number.")
            }
            axes[tag] = number
        }
        return axes
    }

    private static func language(_ reader: JSONObjectReader) throws(Failure) -> String? {
        guard let tag = try reader.text("lang") else { return nil }
        let isTag =
            (2...languageMax).contains(tag.utf8.count)
            && tag.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || $0 == UInt8(ascii: "-")
            }
        guard isTag else {
            throw Failure(
                .invalidValue,
                "\(reader.path).lang is \(tag.prefix(60).debugDescription); expected a tag of a language, such as \"de\" or "
                    + "\"zh-Hant\" (BCP 47).")
        }
        return tag
    }

    fileprivate var json: [String: JSONValue] {
        var fields: [String: JSONValue] = [
            "text": .string(text), "fonts": .array(fonts.map(JSONValue.string)), "size": size.json,
        ]
        if index != 0 { fields["index"] = .number(Double(index)) }
        if !axes.isEmpty { fields["axes"] = .object(axes.mapValues(JSONValue.number)) }
        fields["maxWidth"] = maxWidth?.json
        if color != .white { fields["color"] = color.json }
        fields["lang"] = language.map(JSONValue.string)
        if missing != .fail { fields["missing"] = .string(missing.rawValue) }
        if overflow != .cut { fields["overflow"] = .string(overflow.rawValue) }
        return fields
    }
}

extension Mark.Tile {
    init(_ value: JSONValue, at path: String, _ lengths: LengthReader) throws(Failure) {
        let reader = try JSONObjectReader(value, at: path, known: ["stagger", "step", "turn"])
        let step = try lengths.pair("step", of: reader, isSigned: false)
        guard step.0.millionths > 0, step.1.millionths > 0 else {
            throw Failure(
                .invalidValue,
                "\(path).step has a length of 0; expected is at least the mark's size.")
        }
        self.init(
            stepX: step.0, stepY: step.1, turn: try reader.number("turn", in: -360...360) ?? 0,
            isStaggered: try reader.flag("stagger"))
    }

    fileprivate var json: JSONValue {
        var fields: [String: JSONValue] = ["step": .array([stepX.json, stepY.json])]
        if turn != 0 { fields["turn"] = .number(turn) }
        if isStaggered { fields["stagger"] = .bool(true) }
        return .object(fields)
    }
}

extension Mark.Shadow {
    init(_ value: JSONValue, at path: String, _ lengths: LengthReader) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: path, known: ["blur", "color", "offset", "opacity"])
        let offset = try lengths.pair("offset", of: reader, isSigned: true)
        guard let blur = try lengths.optional("blur", of: reader) else {
            throw Failure(.missingField, "\(path).blur is missing; it is required.")
        }
        self.init(
            right: offset.0, up: offset.1, blur: blur,
            color: try reader.color("color") ?? .black,
            opacity: try reader.number("opacity", in: 0...1) ?? 0.5)
    }

    fileprivate var json: JSONValue {
        .object([
            "offset": .array([right.json, up.json]), "blur": blur.json, "color": color.json,
            "opacity": .number(opacity),
        ])
    }
}

extension Mark.Stroke {
    init(_ value: JSONValue, at path: String, _ lengths: LengthReader) throws(Failure) {
        let reader = try JSONObjectReader(value, at: path, known: ["color", "width"])
        self.init(
            width: try lengths.positive("width", of: reader),
            color: try reader.color("color") ?? .black)
    }
}

/// Reads lengths of a mark in its unit.
package struct LengthReader {
    package let isInPixels: Bool

    package init(isInPixels: Bool) { self.isInPixels = isInPixels }

    /// Fractions up to four times the side; pixels up to the longest side of a rendition.
    private var most: Double {
        isInPixels ? Double(ContractLimits.boxSideRange.upperBound) : 4
    }

    private func length(_ number: Double) -> Mark.Length {
        Mark.Length(millionths: Int((number * Double(Focus.scale)).rounded()))
    }

    /// Returns a length.
    ///
    /// - Throws: `invalidValue` for a fraction that is too large, which is likely a number of pixels.
    package func length(_ number: Double, at path: String) throws(Failure) -> Mark.Length {
        guard (0...most).contains(number) else {
            let number = JSONValue.number(number).canonical
            throw Failure(
                .invalidValue,
                "\(path) is \(number); expected a fraction from 0 to \(JSONValue.number(most).canonical), or pixels with the unit px."
            )
        }
        return length(number)
    }

    func optional(_ name: String, of reader: JSONObjectReader) throws(Failure) -> Mark.Length? {
        try reader.number(name, in: 0...most).map(length)
    }

    func positiveOrNone(
        _ name: String, of reader: JSONObjectReader
    ) throws(Failure) -> Mark.Length? {
        guard let length = try optional(name, of: reader) else { return nil }
        guard length.millionths > 0 else {
            throw Failure(.invalidValue, "\(reader.path).\(name) is 0; expected a length above 0.")
        }
        return length
    }

    func positive(_ name: String, of reader: JSONObjectReader) throws(Failure) -> Mark.Length {
        guard let length = try positiveOrNone(name, of: reader) else {
            throw Failure(
                .missingField,
                "\(reader.path).\(name) is missing; it is required, "
                    + (isInPixels ? "in pixels." : "as a fraction of the rendition."))
        }
        return length
    }

    func pair(
        _ name: String, of reader: JSONObjectReader, isSigned: Bool
    ) throws(Failure) -> (Mark.Length, Mark.Length) {
        let range = (isSigned ? -most : 0)...most
        guard case .array(let values) = try reader.value(name), values.count == 2,
            case .number(let x) = values[0], case .number(let y) = values[1], range.contains(x),
            range.contains(y)
        else {
            throw Failure(
                .invalidValue,
                "\(reader.path).\(name) is \(try reader.value(name).canonical); expected [x, y], each a number from "
                    + "\(JSONValue.number(range.lowerBound).canonical) to \(JSONValue.number(range.upperBound).canonical)."
            )
        }
        return (length(x), length(y))
    }
}

extension Mark.Length {
    fileprivate var json: JSONValue { .number(Double(millionths) / Double(Focus.scale)) }
}

extension Recipe.Background {
    fileprivate var json: JSONValue {
        .array([.number(red), .number(green), .number(blue)])
    }
}

extension JSONObjectReader {
    /// Returns the digest of a resource.
    func digest(_ name: String) throws(Failure) -> String {
        let text = try string(name)
        guard ParameterDefinition.isDigest(text) else {
            throw Failure(
                .invalidValue,
                "\(path).\(name) is \(text.prefix(80).debugDescription); expected \"sha256:\" and 64 hexadecimal digits."
            )
        }
        return text
    }

    /// Returns the colour, or nil if the field is missing.
    func color(_ name: String) throws(Failure) -> Recipe.Background? {
        guard let value = optional(name) else { return nil }
        guard case .array(let values) = value, values.count == 3,
            case .number(let red) = values[0], case .number(let green) = values[1],
            case .number(let blue) = values[2],
            [red, green, blue].allSatisfy({ (0...1).contains($0) })
        else {
            throw Failure(
                .invalidValue,
                "\(path).\(name) is \(value.canonical); expected [red, green, blue] of sRGB, each a number from 0 to 1."
            )
        }
        return Recipe.Background(red: red, green: green, blue: blue)
    }
}
