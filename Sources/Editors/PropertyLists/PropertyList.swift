import Edits
public import FoundationEssentials

/// A property list from untrusted data: the format in which Apple's tools store data beside photos.
public indirect enum PropertyList: Sendable, Equatable {
    case string(String)
    case integer(Int)
    /// A floating-point number; always finite in a list that was read.
    case real(Double)
    case boolean(Bool)
    /// A point in time; in the years 1 to 9999 in a list that was read.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// Values in order.
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// A reference in a keyed archive: the index of an object in `$objects`.
    case uid(Int)

    /// Reads a property list in the binary format (`bplist00`) or as XML, within ``PropertyListLimits``.
    ///
    /// Foundation's reader is not used on untrusted bytes: 300 bytes in which 40 arrays refer to each other twice keep it busy
    /// forever, and it accepts any word as the old text format, which this reader rejects.
    public init(bytes: Data) throws(PropertyListError) {
        guard bytes.count <= PropertyListLimits.bytesMax else {
            throw PropertyListError(
                "it has \(bytes.count) bytes; at most \(PropertyListLimits.bytesMax) are read.")
        }
        if bytes.starts(with: BinaryPropertyList.magic) {
            self = try BinaryPropertyList.read(bytes)
        } else {
            self = try XMLPropertyList.read(bytes)
        }
    }

    public var kind: String {
        switch self {
        case .string: "text"
        case .integer: "a whole number"
        case .real: "a real number"
        case .boolean: "a boolean"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .uid: "a reference"
        }
    }
}

/// The reason why bytes are not a supported property list: a sentence to which the caller adds the file.
public struct PropertyListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The fault, with the value, the position and the expected value.
    public let message: String

    init(_ message: String) { self.message = message }

    public var description: String { message }
}

extension String {
    /// The beginning of an untrusted text, in quotes, for an error.
    var excerpt: String {
        let beginning = String(String.UnicodeScalarView(unicodeScalars.prefix(40)))
        return beginning.debugDescription
    }
}

/// The limits for reading an untrusted property list.
///
/// Real files beside photos have 0.5 to 4 KB, a few dozen values and a depth of 5.
public enum PropertyListLimits {
    /// Most bytes of a file: 2 MiB of adjustment data in Base64 with line ends, and a margin.
    public static let bytesMax = 3 << 20
    /// Most values of a list, each counted once per reference.
    public static let valuesMax = 10_000
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
    mutating func add(_ value: PropertyList, for key: String) throws(PropertyListError) {
        guard updateValue(value, forKey: key) == nil else {
            throw PropertyListError("the key \(key.excerpt) is in a dictionary twice.")
        }
    }
}

/// A point in time in the form of XML property lists: `2019-12-01T15:27:48Z`.
enum UTCTimestamp {
    private static let pattern = Array("0000-00-00T00:00:00Z".utf8)

    /// Parses a text of exactly that form, or returns nil.
    static func date(_ text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count == pattern.count,
            zip(bytes, pattern).allSatisfy({ $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 })
        else { return nil }
        let numbers = bytes.split { !isDigit($0) }.map { digits in
            digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
        let (year, month, day) = (numbers[0], numbers[1], numbers[2])
        let (hour, minute, second) = (numbers[3], numbers[4], numbers[5])
        guard year >= 1, (1...12).contains(month), (1...days(in: month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let seconds = (daysSince2001(year, month, day) * 24 + hour) * 3600 + minute * 60 + second
        return Date(timeIntervalSinceReferenceDate: Double(seconds))
    }

    /// Returns the text of a date in the years 1 to 9999, without fractions of seconds.
    static func text(_ date: Date) -> String {
        let seconds = Int(date.timeIntervalSinceReferenceDate.rounded(.down))
        let (day, secondOfDay) = seconds.quotientAndRemainder(floored: 24 * 3600)
        // The last year that begins at or before the day: 146,097 days are 400 years.
        var year = 2001 + day.quotientAndRemainder(floored: 146_097).0 * 400
        while daysSince2001(year + 1, 1, 1) <= day { year += 1 }
        var month = 1
        while month < 12, daysSince2001(year, month + 1, 1) <= day { month += 1 }
        let numbers = [
            year, month, day - daysSince2001(year, month, 1) + 1,
            secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60,
        ]
        let digits = zip(numbers, [4, 2, 2, 2, 2, 2]).map { number, count in
            let text = String(number)
            return String(repeating: "0", count: count - text.count) + text
        }
        return digits[..<3].joined(separator: "-") + "T" + digits[3...].joined(separator: ":") + "Z"
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the days from 1 January 2001, in the Gregorian calendar also before 1582.
    private static func daysSince2001(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let before = year - 1
        let leapDays = before / 4 - before / 100 + before / 400
        let monthDays = (1..<month).reduce(0) { $0 + days(in: $1, of: year) }
        let of2001 = 2000 * 365 + 2000 / 4 - 2000 / 100 + 2000 / 400
        return before * 365 + leapDays + monthDays + day - 1 - of2001
    }
}

extension Int {
    /// Division that rounds down, also below zero.
    fileprivate func quotientAndRemainder(floored divisor: Int) -> (Int, Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
