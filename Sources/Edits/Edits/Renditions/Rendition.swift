/// A picture that is made from a render for showing: a size, a format, perhaps marks. It is an output beside the render, not an edit,
/// and no version.
public struct Rendition: Sendable, Equatable {
    /// Size, crop and place.
    public var fit: Fit
    /// Format, quality and the other settings of a result; its format is set, and it has neither previews nor movie.
    public var output: Recipe.Output
    /// Whether it says itself which metadata are removed; if not, those that the render loses.
    public var statesStrip: Bool
    /// The strength of sharpening after the reduction, 0 to 1.
    public var sharpness: Double
    /// Pictures and texts, the bottom one first.
    public var marks: [Mark]
    /// The size of the file that it is fitted to; nil for none.
    public var target: SizeTarget?
    /// The hashes that the event has.
    public var hashes: [RenditionHash]
    /// Whether the job fails if it cannot be made.
    public var isRequired: Bool

    /// Its colour space unless it asks for another one: renditions are for showing.
    public static let colorSpace = Recipe.ColorSpace.srgb

    public init(
        fit: Fit = Fit(),
        output: Recipe.Output = Recipe.Output(format: .jpeg, colorSpace: colorSpace, hdr: .drop),
        statesStrip: Bool = false, sharpness: Double = 0, marks: [Mark] = [],
        target: SizeTarget? = nil, hashes: [RenditionHash] = [], isRequired: Bool = true
    ) {
        self.fit = fit
        self.output = output
        self.statesStrip = statesStrip
        self.sharpness = sharpness
        self.marks = marks
        self.target = target
        self.hashes = hashes
        self.isRequired = isRequired
    }

    /// Returns the rendition of a preview: a JPEG in sRGB without metadata.
    public static func preview(longestSide: Int, background: Recipe.Background?) -> Rendition {
        Rendition(
            fit: Fit(box: Fit.Box(width: longestSide, height: longestSide)),
            output: Recipe.Output(
                format: .jpeg, quality: 0.8, strip: .all, colorSpace: .srgb,
                background: background, hdr: .drop), statesStrip: true)
    }

    /// Returns the rendition without the metadata that its render loses, unless it says itself which are removed: who asks once
    /// believes that the place is nowhere.
    func stripped(like render: Recipe.Output) -> Rendition {
        guard !statesStrip, render.strip != .none else { return self }
        var rendition = self
        rendition.output.strip = render.strip
        rendition.output.keepsRights = output.keepsRights || render.keepsRights
        return rendition
    }
}

/// The renditions of an edit, by name.
public struct Renditions: Sendable, Equatable {
    public let byName: [String: Rendition]

    /// The names, in their order: ascending by bytes.
    public var names: [String] { byName.keys.sorted() }

    public init(_ byName: [String: Rendition] = [:]) { self.byName = byName }

    public var isEmpty: Bool { byName.isEmpty }

    /// Names that stand for something else.
    static let reserved: Set<String> = ["list", "original", "render"]

    /// Whether a text can be the name of a rendition: lower-case letters, digits and hyphens, and never a path.
    public static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        guard let first = bytes.first, isLetterOrDigit(first),
            bytes.count <= ContractLimits.renditionNameMax
        else { return false }
        return bytes.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
            && !reserved.contains(text)
    }
}

extension Renditions {
    /// - Throws: the first error, named by its path.
    public init(_ value: JSONValue, at path: String) throws(Failure) {
        guard case .object(let fields) = value else {
            throw Failure(
                .invalidValue, "\(path) is \(value.kind); expected an object of renditions by name."
            )
        }
        guard fields.count <= ContractLimits.renditionsMax else {
            throw Failure(
                .oversizedField,
                "\(path) has \(fields.count) renditions; at most \(ContractLimits.renditionsMax) are allowed. "
                    + "Send a second job in the mode renditions for the others.")
        }
        var byName: [String: Rendition] = [:]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard Self.isName(name) else {
                throw Failure(
                    .invalidValue,
                    "\(path) has the name \(name.debugDescription); expected 1 to "
                        + "\(ContractLimits.renditionNameMax) of a-z, 0-9 and -, not first -, and none of "
                        + "\(Self.reserved.sorted().joined(separator: ", ")).")
            }
            byName[name] = try Rendition(value, at: "\(path).\(name)")
        }
        self.init(byName)
    }

    public var json: JSONValue { .object(byName.mapValues(\.json)) }
}

extension Rendition {
    /// The fields of `output` that a rendition has, too.
    static let outputFields = [
        "background", "bitDepth", "chroma", "colorSpace", "compression", "format", "hdr",
        "keepRights", "metadata", "progressive", "quality", "strip",
    ]
    private static let ownFields = [
        "at", "box", "crop", "enlarge", "fit", "focus", "hash", "marks", "maxBytes", "minQuality",
        "onMiss", "required", "sharpen", "target",
    ]

    public init(_ value: JSONValue, at path: String) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: path, known: (Self.ownFields + Self.outputFields).sorted())
        var output = try Recipe.Output(reader)
        if output.format == nil { output.format = .jpeg }
        if reader.optional("colorSpace") == nil { output.colorSpace = Self.colorSpace }
        if reader.optional("hdr") == nil { output.hdr = .drop }
        guard output.colorSpace != .source else {
            throw Failure(
                .invalidValue,
                "\(path).colorSpace is \"source\"; expected srgb or displayP3, because a rendition is for showing."
            )
        }
        if output.format?.isMovie == true {
            throw Failure(
                .invalidValue,
                "\(path).format is a movie's; a rendition is a picture, of a movie that of its poster time."
            )
        }
        try output.check(for: output.format ?? .jpeg, at: path)
        self.init(
            fit: try Fit(reader), output: output,
            statesStrip: reader.optional("strip") != nil,
            sharpness: try reader.number("sharpen", in: 0...1) ?? 0,
            marks: try Mark.list(reader), target: try SizeTarget(reader, output.format ?? .jpeg),
            hashes: try RenditionHash.list(reader),
            isRequired: reader.optional("required") == nil ? true : try reader.flag("required"))
    }

    /// The JSON: only values that differ from the defaults, and the output's quality and format always.
    public var json: JSONValue {
        guard case .object(var fields) = output.json else { return .null }
        if output.colorSpace == Self.colorSpace { fields["colorSpace"] = nil }
        // Without it, the metadata that the render loses would go.
        if statesStrip { fields["strip"] = .string(output.strip.rawValue) }
        fields["hdr"] = output.hdr == .drop ? nil : .string(output.hdr.rawValue)
        fields.merge(fit.json) { _, new in new }
        if sharpness != 0 { fields["sharpen"] = .number(sharpness) }
        if !marks.isEmpty { fields["marks"] = .array(marks.map(\.json)) }
        fields.merge(target?.json ?? [:]) { _, new in new }
        if !hashes.isEmpty { fields["hash"] = .array(hashes.map { .string($0.rawValue) }) }
        if !isRequired { fields["required"] = .bool(false) }
        return .object(fields)
    }
}

extension Rendition {
    /// Returns the path of a rendition in errors; nil: it is a preview.
    public static func path(_ name: String?) -> String {
        name.map { "edit.renditions.\($0)" } ?? "edit.output.previews"
    }
}

extension Rendition: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(JSONValue(from: decoder), at: "rendition")
    }
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

extension Fit {
    init(_ reader: JSONObjectReader) throws(Failure) {
        let rule: Rule = try reader.choice("fit") ?? .inside
        let box = try reader.optional("box").map { value throws(Failure) in
            try Box(value, at: "\(reader.path).box")
        }
        if rule == .stretch, let box, box.width == nil || box.height == nil {
            throw Failure(
                .invalidValue,
                "\(reader.path).box has one side, and fit is \"stretch\"; expected both sides.")
        }
        self.init(
            box: box, rule: rule, enlarges: try reader.flag("enlarge"),
            focus: try Focus(reader) ?? .center,
            crop: try reader.optional("crop").map { value throws(Failure) in
                try Crop(value, at: "\(reader.path).crop")
            })
    }

    var json: [String: JSONValue] {
        var fields: [String: JSONValue] = [:]
        fields["box"] = box?.json
        if rule != .inside { fields["fit"] = .string(rule.rawValue) }
        if enlarges { fields["enlarge"] = .bool(true) }
        if focus != .center { fields["focus"] = focus.json }
        fields["crop"] = crop.map { .fractions([$0.x, $0.y, $0.width, $0.height]) }
        return fields
    }
}

extension Fit.Box {
    init(_ value: JSONValue, at path: String) throws(Failure) {
        var sides: [Int?] = []
        if case .array(let values) = value, values.count == 2 {
            for value in values {
                if case .number(let number) = value, let side = Int(exactly: number),
                    ContractLimits.boxSideRange.contains(side)
                {
                    sides.append(side)
                } else if value == .null {
                    sides.append(nil)
                }
            }
        }
        guard sides.count == 2, sides != [nil, nil] else {
            throw Failure(
                .invalidValue,
                "\(path) is \(value.canonical); expected [width, height] in pixels, each "
                    + "\(ContractLimits.boxSideRange.lowerBound) to \(ContractLimits.boxSideRange.upperBound), or null "
                    + "for one that follows.")
        }
        self.init(width: sides[0], height: sides[1])
    }

    var json: JSONValue { .array([width, height].map { $0.map { .number(Double($0)) } ?? .null }) }
}

extension Focus {
    /// Reads `focus` or `at`; nil if there is neither.
    init?(_ reader: JSONObjectReader) throws(Failure) {
        guard let value = reader.optional("focus") else {
            guard let name = try reader.text("at") else { return nil }
            guard let focus = Self.named[name] else {
                throw Failure(
                    .invalidValue,
                    "\(reader.path).at is \(name.debugDescription); allowed: "
                        + Self.named.keys.sorted().joined(separator: ", ") + ".")
            }
            self = focus
            return
        }
        guard reader.optional("at") == nil else {
            throw Failure(
                .invalidValue, "\(reader.path) has both focus and at; expected one of them.")
        }
        guard case .array = value, let focus = Focus(value) else {
            throw Failure(
                .invalidValue,
                "\(reader.path).focus is \(value.canonical); expected [x, y], fractions from 0 to 1 from the bottom left."
            )
        }
        self = focus
    }

    /// Reads `[x, y]` or the name of a place; nil for anything else.
    init?(_ value: JSONValue) {
        if case .string(let name) = value {
            guard let focus = Self.named[name] else { return nil }
            self = focus
            return
        }
        guard let parts = value.fractions, parts.count == 2 else { return nil }
        self.init(x: parts[0], y: parts[1])
    }

    var json: JSONValue { .fractions([x, y]) }
}

extension Fit.Crop {
    init(_ value: JSONValue, at path: String) throws(Failure) {
        guard let parts = value.fractions, parts.count == 4, parts[2] > 0, parts[3] > 0,
            parts[0] + parts[2] <= Focus.scale, parts[1] + parts[3] <= Focus.scale
        else {
            throw Failure(
                .invalidValue,
                "\(path) is \(value.canonical); expected [x, y, width, height], fractions of the picture from its bottom "
                    + "left, within 0 to 1.")
        }
        self.init(x: parts[0], y: parts[1], width: parts[2], height: parts[3])
    }
}

extension JSONValue {
    /// The numbers from 0 to 1 of an array in whole millionths; nil if it has anything else.
    fileprivate var fractions: [Int]? {
        guard case .array(let values) = self else { return nil }
        var parts: [Int] = []
        for value in values {
            guard case .number(let number) = value, (0...1).contains(number) else { return nil }
            parts.append(Int((number * Double(Focus.scale)).rounded()))
        }
        return parts
    }

    fileprivate static func fractions(_ parts: [Int]) -> JSONValue {
        .array(parts.map { .number(Double($0) / Double(Focus.scale)) })
    }
}
