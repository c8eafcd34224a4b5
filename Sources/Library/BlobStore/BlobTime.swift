/// A time in whole seconds, as written by stores and signatures.
public struct BlobTime: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public let seconds: Int

    public init(seconds: Int) {
        self.seconds = seconds
    }

    public static func < (a: BlobTime, b: BlobTime) -> Bool { a.seconds < b.seconds }

    /// The time as SigV4 writes it: `20150830T123600Z`.
    var stamp: String {
        let (year, month, day) = Self.civil(daysSince1970: seconds.flooredDivision(by: 86_400))
        let time = seconds - seconds.flooredDivision(by: 86_400) * 86_400
        return Self.padded(year, 4) + Self.padded(month, 2) + Self.padded(day, 2) + "T"
            + Self.padded(time / 3_600, 2) + Self.padded(time / 60 % 60, 2)
            + Self.padded(time % 60, 2) + "Z"
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`. Source: RFC 9110, 5.6.7, the preferred form.
    init?(httpDate text: some StringProtocol) {
        let fields = text.split(separator: " ")
        guard fields.count == 6, fields[5] == "GMT",
            let month = Self.months.firstIndex(of: String(fields[2]))
        else { return nil }
        self.init(year: fields[3], month: "\(month + 1)", day: fields[1], time: fields[4])
    }

    /// Parses `2009-10-12T17:50:30.000Z`; the fraction is ignored. Source: RFC 3339.
    init?(iso text: some StringProtocol) {
        let halves = text.split(separator: "T", omittingEmptySubsequences: false)
        guard halves.count == 2, halves[1].last == "Z" else { return nil }
        let date = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        let time = halves[1].dropLast().split(separator: ".", omittingEmptySubsequences: false)
        guard date.count == 3, let time = time.first else { return nil }
        self.init(year: date[0], month: date[1], day: date[2], time: time)
    }

    private init?(
        year: some StringProtocol, month: some StringProtocol, day: some StringProtocol,
        time: some StringProtocol
    ) {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let year = Int(year), let month = Int(month), let day = Int(day),
            let hour = Int(parts[0]), let minute = Int(parts[1]), let second = Int(parts[2]),
            1970...9999 ~= year, 1...12 ~= month, 1...31 ~= day, 0...23 ~= hour, 0...59 ~= minute,
            0...60 ~= second
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    // Both functions count years from March, so that the leap day is the last day of a year.
    // Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year.flooredDivision(by: 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func civil(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSince1970 + 719_468
        let era = days.flooredDivision(by: 146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Int {
    fileprivate func flooredDivision(by divisor: Int) -> Int {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
