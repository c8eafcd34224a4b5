/// A text with placeholders, such as `© {creator} {date:yyyy}`, which are filled in for each photo.
///
/// The list is closed: `{creator}` `{rights}` `{title}` `{caption}` of the photo, `{date:yyyy-MM-dd}` of its taking, `{asset}`,
/// `{name}` without folder and extension, `{batch}`, `{index}` or `{index:4}` with leading zeros, `{field:NAME}` of the job, and
/// `{rendition}`. `{a|b}` is the first that has a value, `{a|"text"}` ends in a text, and `{{` is a brace.
public struct Placeholders: Sendable, Equatable {
    /// The text as it was sent.
    public let text: String
    private let parts: [Part]

    fileprivate enum Part: Sendable, Equatable {
        case literal(String)
        /// The text between the braces, for errors, and the values to try in their order.
        case choice(String, [Placeholder])
    }

    /// Parses a text.
    ///
    /// - Parameter path: the field that has it, for errors.
    /// - Throws: `invalidValue`.
    public init(_ text: String, at path: String) throws(Failure) {
        var parser = PlaceholderParser(text: Array(text.unicodeScalars), path: path)
        self.text = text
        parts = try parser.parts()
    }

    /// Creates a text without placeholders; its braces are literal.
    public init(literal: String) {
        text = literal.replacing("{", with: "{{")
        parts = literal.isEmpty ? [] : [.literal(literal)]
    }

    /// The text if nothing is to be filled in; otherwise nil.
    public var literal: String? {
        var whole = ""
        for part in parts {
            guard case .literal(let text) = part else { return nil }
            whole += text
        }
        return whole
    }

    /// Whether a value is read from the photo.
    public var readsPhoto: Bool { placeholders.contains(where: \.isOfPhoto) }

    private var placeholders: [Placeholder] {
        parts.flatMap { part -> [Placeholder] in
            if case .choice(_, let choice) = part { choice } else { [] }
        }
    }

    /// Fills in the values of a text that is drawn: each is cut at ``PlaceholderValues/lengthMax`` characters, on one line, and without
    /// characters that control the display.
    ///
    /// - Parameter path: the field that has the text, for errors.
    /// - Throws: `missingValue`.
    public func filled(by values: PlaceholderValues, at path: String) throws(Failure) -> String {
        try filled(at: path, .drawn) { values[$0] }
    }

    func filled(
        at path: String, _ form: PlaceholderValues.Form, _ value: (Placeholder) -> String?
    ) throws(Failure) -> String {
        var whole = ""
        for part in parts {
            switch part {
            case .literal(let text): whole += text
            case .choice(let written, let choice):
                var found: String?
                for placeholder in choice where found == nil {
                    if case .text(let text) = placeholder {
                        found = text
                    } else if let shown = value(placeholder).map({
                        PlaceholderValues.shown($0, as: form)
                    }), !shown.isEmpty {
                        found = shown
                    }
                }
                guard let found else {
                    throw Failure(
                        .missingValue,
                        "\(path) has {\(written)}, for which this photo and job have no value. Give one, or a text to use instead: "
                            + "{\(written)|\"text\"}.")
                }
                whole += found
            }
        }
        return whole
    }
}

/// One value of a placeholder.
enum Placeholder: Sendable, Equatable {
    case creator, rights, title, caption
    /// A form of `yyyy`, `yy`, `MM`, `dd`, `HH`, `mm` and characters that are no letters.
    case date(String)
    case asset, name, batch, rendition
    /// With this number of digits at least.
    case index(digits: Int)
    case field(String)
    case text(String)

    var isOfPhoto: Bool {
        switch self {
        case .creator, .rights, .title, .caption, .date: true
        default: false
        }
    }
}

/// The values that fill in placeholders.
public struct PlaceholderValues: Sendable, Equatable {
    /// The texts of the photo, or those of the job in their place.
    public var texts: PhotoTexts
    public var asset: AssetPath?
    /// The name of the job's batch, and the job's number in it, from 0, as in the job's id.
    public var batch: String?
    public var index: Int?
    /// The job's own values, by their names.
    public var fields: [String: String]
    /// The name of the rendition that is made.
    public var rendition: String?

    /// Longest value that is filled in, in characters.
    public static let lengthMax = 200

    public init(
        texts: PhotoTexts = PhotoTexts(), asset: AssetPath? = nil, batch: String? = nil,
        index: Int? = nil, fields: [String: String] = [:], rendition: String? = nil
    ) {
        self.texts = texts
        self.asset = asset
        self.batch = batch
        self.index = index
        self.fields = fields
        self.rendition = rendition
    }

    subscript(placeholder: Placeholder) -> String? {
        switch placeholder {
        case .creator: texts.creator.isEmpty ? nil : texts.creator.joined(separator: ", ")
        case .rights: texts.rights
        case .title: texts.title
        case .caption: texts.caption
        case .date(let form): texts.date.flatMap { $0.text(form) }
        case .asset: asset?.string
        case .name: asset?.stem
        case .batch: batch
        case .rendition: rendition
        case .index(let digits):
            index.map { index in
                let text = "\(index)"
                return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
            }
        case .field(let name): fields[name]
        case .text(let text): text
        }
    }

    /// The kinds of texts that values are filled into.
    enum Form {
        /// Metadata, of one line or of several.
        case line, lines
        /// The text that is drawn.
        case drawn
    }

    /// Returns a value as it is filled in: ends of lines become spaces where there is one line, and characters that control the display are
    /// dropped; from what is drawn also those that change the direction of what follows.
    static func shown(_ value: String, as form: Form) -> String {
        var shown = String.UnicodeScalarView()
        var marks = 0
        for scalar in value.withLineFeeds.unicodeScalars.prefix(scalarsMax) {
            if scalar == "\n" {
                shown.append(form == .lines ? "\n" : " ")
            } else if scalar == "\t" {
                shown.append(form == .drawn ? " " : "\t")
            } else if !scalar.isForbiddenInMetadata, !(form == .drawn && scalar.turnsWriting) {
                marks = scalar.isCombiningMark ? marks + 1 : 0
                if marks <= String.marksInARowMax { shown.append(scalar) }
            }
        }
        return String(String(shown).prefix(lengthMax)).trimmed
    }

    /// Most scalars of a value that are looked at.
    private static let scalarsMax = 16 * lengthMax
}

extension String {
    /// The text without spaces at its ends.
    fileprivate var trimmed: String {
        let inner = drop { $0 == " " }
        guard let last = inner.lastIndex(where: { $0 != " " }) else { return "" }
        return String(inner[...last])
    }
}

/// A parser of ``Placeholders``.
private struct PlaceholderParser {
    let text: [Unicode.Scalar]
    let path: String
    private var offset = 0

    init(text: [Unicode.Scalar], path: String) { (self.text, self.path) = (text, path) }

    /// Longest form of a date, and most digits of an index.
    private static let formMax = 32
    private static let digitsMax = 10

    mutating func parts() throws(Failure) -> [Placeholders.Part] {
        var parts: [Placeholders.Part] = []
        var literal = String.UnicodeScalarView()
        while offset < text.count {
            let scalar = text[offset]
            offset += 1
            guard scalar == "{" else {
                literal.append(scalar)
                continue
            }
            if offset < text.count, text[offset] == "{" {
                offset += 1
                literal.append("{")
                continue
            }
            if !literal.isEmpty { parts.append(.literal(String(literal))) }
            literal = String.UnicodeScalarView()
            parts.append(try choice())
        }
        if !literal.isEmpty { parts.append(.literal(String(literal))) }
        return parts
    }

    /// Reads what is between braces, past the closing one.
    private mutating func choice() throws(Failure) -> Placeholders.Part {
        let start = offset
        var choice: [Placeholder] = []
        while true {
            if case .text? = choice.last {
                throw failure("has a choice after a text, which is never used")
            }
            choice.append(try offset < text.count && text[offset] == "\"" ? quoted() : named())
            guard offset < text.count else {
                throw failure("has { without }; write {{ for a brace")
            }
            offset += 1
            if text[offset - 1] == "}" { break }
            guard text[offset - 1] == "|" else {
                throw failure("has \(text[offset - 1].escaped) after a text in quotes")
            }
        }
        var written = String.UnicodeScalarView()
        written.append(contentsOf: text[start..<offset - 1])
        return .choice(String(written), choice)
    }

    private mutating func quoted() throws(Failure) -> Placeholder {
        let start = offset + 1
        guard let end = text[start...].firstIndex(of: "\"") else {
            throw failure("has a text without its closing quote")
        }
        offset = end + 1
        var inner = String.UnicodeScalarView()
        inner.append(contentsOf: text[start..<end])
        return .text(String(inner))
    }

    private mutating func named() throws(Failure) -> Placeholder {
        let end = text[offset...].firstIndex { $0 == "}" || $0 == "|" } ?? text.count
        var view = String.UnicodeScalarView()
        view.append(contentsOf: text[offset..<end])
        offset = end
        let name = String(view)
        switch name {
        case "creator": return .creator
        case "rights": return .rights
        case "title": return .title
        case "caption": return .caption
        case "asset": return .asset
        case "name": return .name
        case "batch": return .batch
        case "rendition": return .rendition
        case "index": return .index(digits: 1)
        default: break
        }
        guard let colon = name.unicodeScalars.firstIndex(of: ":") else { throw unknown(name) }
        let value = String(name.unicodeScalars[name.unicodeScalars.index(after: colon)...])
        switch String(name.unicodeScalars[..<colon]) {
        case "index":
            guard let digits = Int(value), "\(digits)" == value,
                (1...Self.digitsMax).contains(digits)
            else {
                throw failure("has {\(name)}; expected are 1 to \(Self.digitsMax) digits")
            }
            return .index(digits: digits)
        case "field":
            guard AssetFields.isName(value) else {
                throw failure("has {\(name)}; expected is the name of a field of the job")
            }
            return .field(value)
        case "date":
            guard value.unicodeScalars.count <= Self.formMax, PhotoDate.isForm(value) else {
                throw failure(
                    "has {\(name)}; expected is a form of yyyy, yy, MM, dd, HH and mm, such as {date:yyyy-MM-dd}"
                )
            }
            return .date(value)
        default: throw unknown(name)
        }
    }

    private func unknown(_ name: String) -> Failure {
        failure(
            "has {\(String(name.prefix(40)))}; known are creator, rights, title, caption, date:yyyy-MM-dd, asset, name, batch, "
                + "index, index:4, field:NAME and rendition. Write {{ for a brace")
    }

    private func failure(_ clause: String) -> Failure {
        Failure(.invalidValue, "\(path) \(clause.printable).")
    }
}

extension Unicode.Scalar {
    fileprivate var escaped: String { String(Character(self)).debugDescription }
}
