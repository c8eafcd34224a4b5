import FoundationEssentials

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
