/// The texts of a photo's metadata, by the precedence of the Metadata Working Group: the values of placeholders.
public struct PhotoTexts: Sendable, Codable, Equatable {
    public var creator: [String]
    public var rights: String?
    public var title: String?
    public var caption: String?
    /// The date and time at which it was taken, without a zone.
    public var date: PhotoDate?
    /// Whether its XMP states when it was changed last, which a change of metadata then corrects.
    public var tellsChange: Bool

    /// Longest text in characters; longer ones are cut. Most names of creators.
    public static let lengthMax = 2_000
    public static let creatorsMax = 100
    /// Most bytes of a text.
    public static let bytesMax = 8 * lengthMax

    /// Cuts texts and drops characters that control the display.
    public init(
        creator: [String] = [], rights: String? = nil, title: String? = nil,
        caption: String? = nil, date: PhotoDate? = nil, tellsChange: Bool = false
    ) {
        self.creator = creator.prefix(Self.creatorsMax).compactMap(Self.text)
        self.rights = rights.flatMap(Self.text)
        self.title = title.flatMap(Self.text)
        self.caption = caption.flatMap(Self.text)
        self.date = date
        self.tellsChange = tellsChange
    }

    /// The texts, for the check of a reply.
    public var all: [String] { creator + [rights, title, caption].compactMap(\.self) }

    /// Returns a text of a file, with tabs, line feeds and invisible characters alone of what controls the display; nil if nothing is left.
    private static func text(_ text: String) -> String? {
        var clean = String.UnicodeScalarView()
        var marks = 0
        // A scalar has at most four bytes.
        for scalar in text.withLineFeeds.unicodeScalars.prefix(bytesMax / 4) {
            guard !scalar.isForbiddenInMetadata else { continue }
            marks = scalar.isCombiningMark ? marks + 1 : 0
            if marks <= String.marksInARowMax { clean.append(scalar) }
        }
        let cut = String(String(clean).prefix(lengthMax))
        let isBlank = cut.unicodeScalars.allSatisfy {
            $0 == " " || $0 == "\n" || $0 == "\t" || $0.isFormat
        }
        return isBlank ? nil : cut
    }

    /// Returns the texts with those that a job writes: a removed one is none.
    ///
    /// - Parameter changes: without placeholders.
    public func replaced(by changes: MetadataChanges?) -> PhotoTexts {
        guard let changes else { return self }
        var texts = self
        for (field, value) in changes.values {
            switch (field, value) {
            case (.creator, .list(let names)): texts.creator = names.compactMap(\.literal)
            case (.creator, _): texts.creator = []
            case (.rights, _): texts.rights = value.literal
            case (.title, _): texts.title = value.literal
            case (.caption, _): texts.caption = value.literal
            case (.date, .date(let date)): texts.date = date.taken
            case (.date, _): texts.date = nil
            default: continue
            }
        }
        return texts
    }
}

/// A date, perhaps with a time, without a zone.
public struct PhotoDate: Sendable, Codable, Equatable {
    public let year: Int, month: Int, day: Int
    /// Nil for a date alone.
    public let hour: Int?, minute: Int?

    /// Checks the numbers; nil for a day that no calendar has.
    public init?(_ year: Int, _ month: Int, _ day: Int, hour: Int? = nil, minute: Int? = nil) {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...9999).contains(year), (1...12).contains(month),
            (1...days[month - 1]).contains(day), (hour == nil) == (minute == nil),
            (0...23).contains(hour ?? 0), (0...59).contains(minute ?? 0)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute) = (hour, minute)
    }

    /// Whether the numbers are those of a day and a time.
    public var isValid: Bool { PhotoDate(year, month, day, hour: hour, minute: minute) != nil }

    private static let tokens = ["yyyy", "yy", "MM", "dd", "HH", "mm"]

    /// Whether a text is a form of a date: tokens, and characters that are no letters.
    static func isForm(_ text: String) -> Bool {
        !text.isEmpty && !text.hasControls && pieces(of: text) != nil
    }

    /// Returns the date in a form; nil if the form has a time and the date none.
    func text(_ form: String) -> String? {
        var text = ""
        for piece in Self.pieces(of: form) ?? [] {
            switch piece {
            case "yyyy": text += Self.digits(year, 4)
            case "yy": text += Self.digits(year % 100, 2)
            case "MM": text += Self.digits(month, 2)
            case "dd": text += Self.digits(day, 2)
            case "HH":
                guard let hour else { return nil }
                text += Self.digits(hour, 2)
            case "mm":
                guard let minute else { return nil }
                text += Self.digits(minute, 2)
            default: text += piece
            }
        }
        return text
    }

    static func digits(_ number: Int, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// Returns tokens and single other characters; nil if a letter is no token.
    private static func pieces(of form: String) -> [String]? {
        var pieces: [String] = []
        var rest = form[...]
        while let first = rest.first {
            if let token = tokens.first(where: { rest.hasPrefix($0) }) {
                pieces.append(token)
                rest = rest.dropFirst(token.count)
            } else if first.isLetter {
                return nil
            } else {
                pieces.append(String(first))
                rest = rest.dropFirst()
            }
        }
        return pieces
    }
}
