public import Edits

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
    /// `IMG_E1234-web`, for the rendition `web`.
    public func rendition(_ name: String) -> String { render + "-" + name }
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

extension DCFName {
    /// Chooses names for photos that are exported to one folder, in their order.
    ///
    /// A photo keeps its own name if that is a valid one and free. These names are assigned first. The other photos
    /// get the lowest free numbers of `IMG_`.
    ///
    /// - Parameters:
    ///   - stems: the photos' names, without extensions.
    ///   - existing: the names of the files in the folder.
    /// - Throws: `invalidValue` if there are not enough numbers.
    public static func choose(
        for stems: [String], besides existing: [String]
    ) throws(Failure) -> [DCFName] {
        var used = Set(existing.compactMap { ofAnyFile(named: stem(of: $0)) })
        let own = stems.map { stem in
            DCFName(original: stem).flatMap { used.insert($0).inserted ? $0 : nil }
        }
        var number = numbers.lowerBound
        var names: [DCFName] = []
        for name in own {
            if let name {
                names.append(name)
                continue
            }
            while used.contains(DCFName(letters: madeUpLetters, number: number)) { number += 1 }
            guard numbers.contains(number) else {
                throw Failure(
                    .invalidValue,
                    "all numbers of \(madeUpLetters)_, \(numbers.lowerBound) to \(numbers.upperBound), "
                        + "are taken; \(names.count) of \(stems.count) photos got a name. Export the rest "
                        + "to another folder.")
            }
            names.append(DCFName(letters: madeUpLetters, number: number))
            number += 1
        }
        return names
    }

    /// Returns the name that a file of a photo belongs to; nil if it is none.
    private static func ofAnyFile(named stem: String) -> DCFName? {
        let parts = stem.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, Renditions.isName(String(parts[1])) else {
            return DCFName(anyRole: stem)
        }
        return DCFName(String(parts[0]), marks: ["E"]).flatMap {
            stem.uppercased().hasPrefix($0.render) ? $0 : nil
        }
    }

    private static func stem(of fileName: String) -> String {
        fileName.lastIndex(of: ".").map { String(fileName[..<$0]) } ?? fileName
    }
}
