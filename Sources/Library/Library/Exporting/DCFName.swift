/// A file name in the form that cameras write, which lets Apple's tools pair an original with its edit: `IMG_1234`.
///
/// | file | name |
/// |---|---|
/// | original | `IMG_1234.JPG` |
/// | render | `IMG_E1234.JPG` |
/// | adjustment data | `IMG_1234.AAE` |
///
/// Source: DCF 2.0 (four characters, then 0001 to 9999). Photos pairs the three files of an import only for three
/// letters followed by `_`.
public struct DCFName: Sendable, Hashable, Comparable {
    /// Three letters, A to Z.
    public let letters: String
    /// The number, 1 to 9999.
    public let number: Int

    /// The range of valid numbers.
    public static let numbers = 1...9999
    /// The letters of a generated name.
    public static let madeUpLetters = "IMG"

    init(letters: String, number: Int) {
        self.letters = letters
        self.number = number
    }

    /// Parses the name of an original, without its extension, in upper or lower case; nil if it is invalid.
    public init?(original stem: String) {
        self.init(stem, marks: [])
    }

    /// Parses the name of a file of any role, including `IMG_E1234` and the `IMG_O1234` of a camera's own
    /// adjustment data.
    public init?(anyRole stem: String) {
        self.init(stem, marks: ["E", "O"])
    }

    private init?(_ stem: String, marks: Set<Character>) {
        let parts = stem.uppercased().split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 3,
            parts[0].allSatisfy({ ("A"..."Z").contains($0) })
        else { return nil }
        let digits = parts[1].first.map(marks.contains) == true ? parts[1].dropFirst() : parts[1]
        guard digits.count == 4, digits.allSatisfy({ ("0"..."9").contains($0) }),
            let number = Int(digits), Self.numbers.contains(number)
        else { return nil }
        self.init(letters: String(parts[0]), number: number)
    }

    /// `IMG_1234`.
    public var original: String { letters + "_" + digits }
    /// `IMG_E1234`.
    public var render: String { letters + "_E" + digits }
    /// `IMG_1234.AAE`.
    public var sidecar: String { original + ".AAE" }

    private var digits: String {
        let text = String(number)
        return String(repeating: "0", count: 4 - text.count) + text
    }

    public static func < (one: DCFName, other: DCFName) -> Bool {
        (one.letters, one.number) < (other.letters, other.number)
    }
}
