extension PlainText {
    /// The text without dates and times, which are numbers beside others: `2026-11-28 12:30:05+01:00 48.8584, 2.2945`; nil if it has none.
    var withoutDates: PlainText? {
        let reader = DateReader(bytes: bytes)
        var kept: [UInt8] = []
        var copied = 0
        var offset = 0
        while let start = bytes[offset...].firstIndex(where: Self.isDigit) {
            guard let end = reader.end(ofDateAt: start) else {
                // The rest of a number begins no date.
                offset = bytes[start...].firstIndex { !Self.isDigit($0) } ?? bytes.count
                continue
            }
            kept += bytes[copied..<start]
            // What separates numbers stands on one side of a date.
            copied = end
            if kept.last.map(Self.isSeparator) ?? true {
                while copied < bytes.count, Self.isSeparator(bytes[copied]) { copied += 1 }
            } else if copied < bytes.count, !Self.isSeparator(bytes[copied]) {
                kept.append(0x20)
            }
            offset = copied
        }
        guard copied > 0 else { return nil }
        return PlainText(plain: kept + bytes[copied...])
    }

    private static let separators = Set(" ,;/|:\n()[]".utf8)

    private static func isSeparator(_ byte: UInt8) -> Bool { separators.contains(byte) }
}

/// The end of a date or a time in a text.
private struct DateReader {
    let bytes: [UInt8]

    private func byte(_ offset: Int) -> UInt8 { bytes.indices.contains(offset) ? bytes[offset] : 0 }

    /// Digits from an offset on, at most nine; nil if there are none.
    private func digits(_ offset: Int) -> (value: Int, count: Int)? {
        let digits = bytes[min(offset, bytes.count)...].prefix(9).prefix(while: PlainText.isDigit)
        guard !digits.isEmpty else { return nil }
        return (digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }, digits.count)
    }

    /// Two or one digits within a range from an offset on.
    private func part(_ offset: Int, _ range: ClosedRange<Int>, isPadded: Bool = false) -> Int? {
        guard let found = digits(offset), found.count <= 2, !isPadded || found.count == 2,
            range.contains(found.value)
        else { return nil }
        return offset + found.count
    }

    func end(ofDateAt start: Int) -> Int? {
        guard !"0123456789.".utf8.contains(byte(start - 1)) else { return nil }
        let date = wholeDate(at: start) ?? compactDate(at: start)
        guard let date else { return time(at: start) }
        guard "T_ -:,".utf8.contains(byte(date)) else { return date }
        let next = byte(date) == UInt8(ascii: ",") && byte(date + 1) == 0x20 ? date + 2 : date + 1
        return time(at: next) ?? compactTime(at: next) ?? date
    }

    private static let years = 1800...2199
    private static let days = 1...31

    /// 2026-11-28, 2026:11:28, 28.11.2026, 11/28/26.
    private func wholeDate(at start: Int) -> Int? {
        guard let first = digits(start) else { return nil }
        let sign = byte(start + first.count)
        guard "-/.:".utf8.contains(sign),
            let middle = part(start + first.count + 1, Self.days), byte(middle) == sign,
            let last = digits(middle + 1)
        else { return nil }
        let end = middle + 1 + last.count
        // A fraction follows a number, and no date.
        guard byte(end) != UInt8(ascii: ".") || !PlainText.isDigit(byte(end + 1)) else {
            return nil
        }
        if first.count == 4, Self.years.contains(first.value) {
            return last.count <= 2 && Self.days.contains(last.value) ? end : nil
        }
        guard first.count <= 2, Self.days.contains(first.value), sign != UInt8(ascii: ":") else {
            return nil
        }
        return last.count == 2 || last.count == 4 && Self.years.contains(last.value) ? end : nil
    }

    /// 20261128.
    private func compactDate(at start: Int) -> Int? {
        guard let found = digits(start), found.count == 8,
            Self.years.contains(found.value / 10_000),
            (1...12).contains(found.value / 100 % 100), Self.days.contains(found.value % 100),
            byte(start + 8) != UInt8(ascii: ".")
        else { return nil }
        return start + 8
    }

    /// 123005, behind a date.
    private func compactTime(at start: Int) -> Int? {
        guard let found = digits(start), [4, 6].contains(found.count),
            byte(start + found.count) != UInt8(ascii: ".")
        else { return nil }
        return zone(at: start + found.count)
    }

    /// 12:30, 12:30:05.123, with a zone.
    private func time(at start: Int) -> Int? {
        guard let hours = part(start, 0...24), byte(hours) == UInt8(ascii: ":"),
            let minutes = part(hours + 1, 0...59, isPadded: true)
        else { return nil }
        guard byte(minutes) == UInt8(ascii: ":"),
            let seconds = part(minutes + 1, 0...60, isPadded: true)
        else { return zone(at: minutes) }
        guard ".,".utf8.contains(byte(seconds)), let fraction = digits(seconds + 1) else {
            return zone(at: seconds)
        }
        return zone(at: seconds + 1 + fraction.count)
    }

    /// Z, UTC, +01:00, +0100: the end of such, or the offset.
    private func zone(at offset: Int) -> Int {
        let start = byte(offset) == 0x20 ? offset + 1 : offset
        for name in ["UTC", "GMT", "Z"]
        where bytes.dropFirst(start).starts(with: name.utf8)
            && !PlainText.isLetter(byte(start + name.utf8.count))
        {
            return start + name.utf8.count
        }
        guard "+-".utf8.contains(byte(start)) else { return offset }
        if let found = digits(start + 1), found.count == 4,
            byte(start + 5) != UInt8(ascii: ".")
        {
            return start + 5
        }
        guard let hours = part(start + 1, 0...14, isPadded: true),
            byte(hours) == UInt8(ascii: ":"),
            let minutes = part(hours + 1, 0...59, isPadded: true)
        else { return offset }
        return minutes
    }
}
