public import Edits
public import FoundationEssentials

/// A format whose data are one word, which stands for one filter with its parameters.
///
/// Editors in samples and tutorials write such data. `SampleEditors.json` has their words.
public struct WordFormat: AdjustmentCodec, Decodable {
    public let formatIdentifier: String
    public let formatVersions: [String]
    private let vocabulary: Vocabulary

    /// Creates the format of the tutorial editor "Color Tint", whose words are names of colours.
    ///
    /// The tutorial specifies neither identifier nor version, so the operator configures those of an app. It does not specify the
    /// tint either: here it is `CIColorMonochrome` of intensity 1 with the colour that `UIColor` documents by that name.
    public init(colorTintAs formatIdentifier: String, version: String) {
        self.formatIdentifier = formatIdentifier
        formatVersions = [version]
        vocabulary = SampleEditors.all.colorTint
    }

    public func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading {
        let word = try vocabulary.data.word(in: data, of: formatIdentifier)
        do throws(Failure) {
            guard let filter = try vocabulary.filter(of: word, at: formatIdentifier) else {
                return .cannotHandle(
                    "\(formatIdentifier) has the word \(word.debugDescription), which its editor does not write; "
                        + "it writes \(vocabulary.summary).")
            }
            return .recipe(try Recipe(filters: [filter]))
        } catch {
            return .cannotHandle(
                "\(formatIdentifier) names what cannot be rendered here: \(error.message)")
        }
    }

    public func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data {
        let filters = try recipe.resolved(for: photo.uprightSize).filters
        guard let given = filters.first, filters.count == 1 else {
            throw notEncodable(
                "has one word for one filter; the recipe is "
                    + filters.map(\.description).joined(separator: ", then "))
        }
        let sayable: Filter?
        do throws(Failure) {
            if let word = try vocabulary.word(for: given, at: formatIdentifier) {
                return vocabulary.data.encoded(word)
            }
            sayable = try vocabulary.filter(of: given.name, at: formatIdentifier)
        } catch {
            throw notEncodable(
                "has no words for parameters: \(error.message) The recipe is \(given)")
        }
        guard let sayable else {
            throw notEncodable("writes \(vocabulary.summary); the recipe is \(given)")
        }
        throw notEncodable(
            "has no words for parameters: its \(given.name) is \(sayable), the recipe's \(given)")
    }

    private func notEncodable(_ reason: String) -> Failure {
        Failure(
            .adjustmentDataNotEncodable,
            "\(formatIdentifier) \(reason). Write it as \(AdjustmentData.minilabFormatIdentifier).")
    }
}

/// The editors of samples and tutorials, as `SampleEditors.json` describes them.
struct SampleEditors: Decodable {
    let formats: [WordFormat]
    /// The words of "Color Tint", whose identifier is a setting.
    let colorTint: Vocabulary

    static let all: SampleEditors = {
        do {
            return try JSONDecoder().decode(
                SampleEditors.self, from: Data(PackageResources.SampleEditors_json))
        } catch {
            preconditionFailure("SampleEditors.json cannot be read: \(error)")
        }
    }()
}

/// The words of an editor, and the filter for which each stands.
///
/// The meaning of a word depends on the editor: `CISepiaTone` is intensity 0.8 in one and 1 in another.
struct Vocabulary: Decodable {
    struct Entry: Decodable {
        /// The words; an edit is written as the first.
        let words: [String]
        let filter: Filter
    }

    let data: WordEncoding
    /// Whether the name of any other filter of Core Image stands for that filter with its defaults.
    let takesFilterNames: Bool
    let ignoresCase: Bool
    let words: [Entry]

    /// Returns the filter for which a word stands; nil if the editor does not write the word.
    ///
    /// - Throws: if the word is the name of a filter that is unknown here, or that has no defaults for all parameters.
    func filter(of word: String, at path: String) throws(Failure) -> Filter? {
        let entry = words.first { entry in
            entry.words.contains {
                ignoresCase ? $0.lowercased() == word.lowercased() : $0 == word
            }
        }
        if let entry { return entry.filter }
        // Minilab's own filters have names without Core Image's prefix.
        return takesFilterNames && word.hasPrefix("CI") ? try Filter(word, at: path) : nil
    }

    /// Returns the word that is read as that filter; nil if there is none.
    func word(for filter: Filter, at path: String) throws(Failure) -> String? {
        if let entry = words.first(where: { $0.filter == filter }) { return entry.words.first }
        return try self.filter(of: filter.name, at: path) == filter ? filter.name : nil
    }

    /// The words, for an error.
    var summary: String {
        takesFilterNames
            ? "names of Core Image's filters" : words.flatMap(\.words).joined(separator: ", ")
    }
}

/// The encoding of a word.
enum WordEncoding: String, Decodable {
    /// Bare UTF-8, without a byte-order mark or a terminating zero.
    case utf8
    /// `NSKeyedArchiver` of an `NSString`. Archives with and without secure coding have the same bytes.
    case keyedArchive

    /// The longest word in bytes of UTF-8; the longest name of a filter of Core Image has 36.
    private static let bytesMax = 256

    /// Reads the word in the data of a format.
    ///
    /// - Throws: `adjustmentDataUndecodable`.
    func word(in data: Data, of formatIdentifier: String) throws(Failure) -> String {
        let word = try text(in: data, of: formatIdentifier)
        guard (1...Self.bytesMax).contains(word.utf8.count) else {
            throw Self.undecodable(
                formatIdentifier,
                "the name has \(word.utf8.count) bytes; expected 1 to \(Self.bytesMax).")
        }
        return word
    }

    func encoded(_ word: String) -> Data {
        switch self {
        case .utf8: Data(word.utf8)
        case .keyedArchive: KeyedArchive.bytes(ofRoot: word)
        }
    }

    private func text(in data: Data, of formatIdentifier: String) throws(Failure) -> String {
        switch self {
        case .utf8:
            guard let text = String(validating: data, as: UTF8.self) else {
                throw Self.undecodable(formatIdentifier, "they are not UTF-8.")
            }
            return text
        case .keyedArchive:
            let root: PropertyList
            do throws(PropertyListError) {
                root = try KeyedArchive.root(of: data)
            } catch {
                throw Self.undecodable(formatIdentifier, error.message)
            }
            guard case .string(let text) = root else {
                throw Self.undecodable(
                    formatIdentifier, "the archive's root is \(root.kind); expected text.")
            }
            return text
        }
    }

    private static func undecodable(_ formatIdentifier: String, _ reason: String) -> Failure {
        Failure(
            .adjustmentDataUndecodable,
            "the adjustment data of \(formatIdentifier) cannot be read: \(reason)")
    }
}
