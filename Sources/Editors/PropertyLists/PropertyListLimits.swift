import Edits
import FoundationEssentials

/// The limits for reading an untrusted property list.
///
/// Real files beside photos have 0.5 to 4 KB, a few dozen values and a depth of 5.
public enum PropertyListLimits {
    /// Most bytes of a file: 2 MiB of adjustment data in Base64 with line ends, and a margin.
    public static let bytesMax = 3 << 20
    /// Most values of a list, each counted once per reference.
    public static let valuesMax = 10_000
    /// Deepest nesting of arrays and dictionaries.
    public static let depthMax = 32
    /// Most bytes of all text and data together, each counted once per reference.
    public static let contentBytesMax = 4 << 20
    /// The dates that all writers support: the years 1 to 9999.
    static let dates =
        Date(
            timeIntervalSinceReferenceDate: -63_114_076_800)..<Date(
            timeIntervalSinceReferenceDate: 252_455_616_000)
}

/// The remaining limits while one list is read.
struct Budget {
    private var values = PropertyListLimits.valuesMax
    private var contentBytes = PropertyListLimits.contentBytesMax

    /// Counts one value at a depth, 0 for the outermost.
    mutating func enter(depth: Int) throws(PropertyListError) {
        guard depth <= PropertyListLimits.depthMax else {
            throw PropertyListError(
                "it is nested deeper than \(PropertyListLimits.depthMax) levels.")
        }
        values -= 1
        guard values >= 0 else {
            throw PropertyListError(
                "it has more than \(PropertyListLimits.valuesMax) values, "
                    + "shared ones counted each time.")
        }
    }

    /// Counts text, before it is compared.
    mutating func spend(_ text: String) throws(PropertyListError) {
        try spend(bytes: text.utf8.count)
        guard text.isStreamSafe else {
            throw PropertyListError(
                "a text has more than \(String.marksInARowMax) combining marks in a row.")
        }
    }

    /// Counts bytes of text or data.
    mutating func spend(bytes: Int) throws(PropertyListError) {
        contentBytes -= bytes
        guard contentBytes >= 0 else {
            throw PropertyListError(
                "its text and data have more than \(PropertyListLimits.contentBytesMax) bytes, "
                    + "shared ones counted each time.")
        }
    }
}

extension [String: PropertyList] {
    /// Adds a pair of an untrusted dictionary.
    mutating func add(_ value: PropertyList, for key: String) throws(PropertyListError) {
        guard updateValue(value, forKey: key) == nil else {
            throw PropertyListError("the key \(key.excerpt) is in a dictionary twice.")
        }
    }
}
