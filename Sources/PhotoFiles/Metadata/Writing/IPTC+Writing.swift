public import Edits

/// The records as data sets (IIM 4.2 §1.6).
struct IPTCRecords {
    struct DataSet: Equatable {
        let record: Int
        let number: Int
        var value: [UInt8]

        /// Whether its value is a text in the records' character set: all of record 2 but numbers, rasters and previews.
        var isText: Bool {
            record == 2 && (3..<200).contains(number) && number != 125 && number != 150
        }
    }

    var sets: [DataSet] = []
    /// Bytes after the last data set: padding, mostly.
    private var rest: [UInt8] = []

    private static let mark: UInt8 = 0x1C
    /// The most data sets that are read: programs write some hundred keywords.
    private static let setsMax = 20_000

    /// Reads records, up to a damaged data set.
    init(_ bytes: [UInt8]) {
        var offset = 0
        while offset + 5 <= bytes.count, bytes[offset] == Self.mark, sets.count < Self.setsMax {
            let short = Int(bytes[offset + 3]) << 8 | Int(bytes[offset + 4])
            var start = offset + 5
            var length = short
            if short & 0x8000 != 0 {
                // The length of the length.
                let count = short & 0x7FFF
                guard count <= 4, start + count <= bytes.count else { break }
                length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
                start += count
            }
            guard length <= bytes.count - start else { break }
            sets.append(
                DataSet(
                    record: Int(bytes[offset + 1]), number: Int(bytes[offset + 2]),
                    value: Array(bytes[start..<start + length])))
            offset = start + length
        }
        rest = Array(bytes[offset...])
    }

    mutating func dropRest() { rest = [] }

    var bytes: [UInt8] {
        sets.flatMap { set -> [UInt8] in
            let count = set.value.count
            let head: [UInt8] = [Self.mark, UInt8(set.record), UInt8(set.number)]
            let length =
                count <= 0x7FFF
                ? [UInt8(count >> 8), UInt8(count & 0xFF)]
                : [0x80, 4] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
            return head + length + set.value
        } + rest
    }

    // MARK: Characters

    /// `ESC % G`, which announces UTF-8 (ISO 2022; IIM 4.2, 1:90).
    private static let utf8: [UInt8] = [0x1B, 0x25, 0x47]

    /// Whether the texts are UTF-8: declared, or by their bytes. A text in Latin-1 with a letter that is no ASCII is hardly ever
    /// valid UTF-8 by chance, and reading UTF-8 as Latin-1 would spoil it for good.
    private var isUTF8: Bool {
        if let declared = sets.first(where: { $0.record == 1 && $0.number == 90 }) {
            return declared.value == Self.utf8
        }
        return texts.allSatisfy { String(validating: $0, as: UTF8.self) != nil }
    }

    private var texts: [[UInt8]] { sets.filter(\.isText).map(\.value) }

    func text(_ value: [UInt8]) -> String {
        isUTF8 ? String(decoding: value, as: UTF8.self) : Windows1252.text(value)
    }

    /// Converts all texts to UTF-8 and declares it.
    mutating func makeUTF8() {
        if !isUTF8 {
            for index in sets.indices where sets[index].isText {
                sets[index].value = Array(Windows1252.text(sets[index].value).utf8)
            }
        }
        let declaration = DataSet(record: 1, number: 90, value: Self.utf8)
        if let index = sets.firstIndex(where: { $0.record == 1 && $0.number == 90 }) {
            sets[index] = declaration
            return
        }
        let version = sets.firstIndex { $0.record == 1 && $0.number == 0 }
        if version == nil {
            // The envelope's version is mandatory.
            sets.insert(DataSet(record: 1, number: 0, value: [0, 4]), at: 0)
        }
        let end = sets.lastIndex { $0.record <= 1 } ?? 0
        sets.insert(declaration, at: end + 1)
    }

    // MARK: Values

    func values(_ number: Int) -> [String] {
        sets.filter { $0.record == 2 && $0.number == number }.map { text($0.value) }
    }

    /// Replaces all values of a data set of record 2, at the place of the first one.
    mutating func set(_ number: Int, to values: [[UInt8]]) {
        let first = sets.firstIndex { $0.record == 2 && $0.number == number }
        sets.removeAll { $0.record == 2 && $0.number == number }
        let place = first ?? sets.firstIndex { $0.record > 2 } ?? sets.count
        sets.insert(
            contentsOf: values.map { DataSet(record: 2, number: number, value: $0) }, at: place)
    }
}

extension IPTC {
    /// A value that is cut to the length that IIM allows.
    public struct Cut: Sendable, Equatable {
        public let field: MetadataChanges.Field
        public let bytes: Int
    }

    /// Data sets of record 2 with their most bytes (IIM 4.2, chapter 6).
    private static let sets: [MetadataChanges.Field: (number: Int, bytes: Int)] = [
        .title: (5, 64), .keywords: (25, 64), .creator: (80, 32), .city: (90, 32),
        .state: (95, 32), .country: (101, 64), .headline: (105, 256), .credit: (110, 32),
        .source: (115, 32), .rights: (116, 128), .caption: (120, 2_000),
    ]
    private static let date = 55
    private static let time = 60

    /// Whether the records have a place for a field.
    static func holds(_ field: MetadataChanges.Field) -> Bool {
        sets[field] != nil || field == .date
    }

    /// Writes values as UTF-8, and the digest of the result: XMP and records then say the same.
    ///
    /// - Parameter changes: without placeholders.
    public func written(_ changes: MetadataChanges) -> (iptc: IPTC, cuts: [Cut]) {
        guard changes.values.keys.contains(where: Self.holds) else { return (self, []) }
        var cuts: [Cut] = []
        var records = IPTCRecords(self.records)
        records.makeUTF8()
        for field in MetadataChanges.Field.allCases {
            guard let value = changes[field] else { continue }
            if field == .date {
                let date = value.date
                records.set(Self.date, to: date.map { [Self.day($0)] } ?? [])
                records.set(Self.time, to: date.map { [Self.time($0)] } ?? [])
            }
            for number in ValueCopies.iptc[field] ?? [] { records.set(number, to: []) }
            guard let (number, bytes) = Self.sets[field] else { continue }
            let texts = value.literal.map { [$0] } ?? value.texts
            let stored = texts.map { Self.cut($0, to: bytes) }
            records.set(number, to: stored)
            if zip(texts, stored).contains(where: { $0.utf8.count > $1.count }) {
                cuts.append(Cut(field: field, bytes: bytes))
            }
        }
        let bytes = records.bytes
        return (IPTC(records: bytes, digest: Self.md5(bytes)), cuts)
    }

    /// Returns the bytes of as many whole characters as fit.
    static func cut(_ text: String, to most: Int) -> [UInt8] {
        guard text.utf8.count > most else { return Array(text.utf8) }
        var bytes: [UInt8] = []
        for character in text {
            guard bytes.count + character.utf8.count <= most else { break }
            bytes += character.utf8
        }
        return bytes
    }

    private static func day(_ date: MetadataDate) -> [UInt8] {
        date.text.utf8.prefix(10).filter { $0 != UInt8(ascii: "-") }
    }

    /// `HHMMSS±HHMM`; a time without a zone counts as that of Greenwich, because the form has a zone always.
    private static func time(_ date: MetadataDate) -> [UInt8] {
        let zone = date.zone.map { $0 == "Z" ? "+0000" : $0.replacing(":", with: "") } ?? "+0000"
        return date.text.utf8.dropFirst(11).prefix(8).filter { $0 != UInt8(ascii: ":") }
            + zone.utf8
    }

    /// The texts of a photo in the records.
    var texts: PhotoTexts {
        let records = IPTCRecords(records)
        return PhotoTexts(
            creator: records.values(80), rights: records.values(116).first,
            title: records.values(5).first, caption: records.values(120).first,
            date: PhotoDate(
                iptc: records.values(Self.date).first, time: records.values(Self.time).first))
    }

    /// The changes that make XMP say what the records say, for all fields but some.
    func reconciling(_ others: MetadataChanges) -> MetadataChanges {
        let records = IPTCRecords(records)
        var values: [MetadataChanges.Field: MetadataChanges.Value] = [:]
        for (field, set) in Self.sets where others[field] == nil {
            let texts = records.values(set.number).filter { !$0.isEmpty }
            guard !texts.isEmpty else { continue }
            let literals = texts.map { Placeholders(literal: $0) }
            values[field] =
                [.creator, .keywords].contains(field) ? .list(literals) : .text(literals[0])
        }
        return MetadataChanges(values)
    }
}

extension PhotoDate {
    /// Reads `yyyyMMdd` and perhaps `HHmmss…`; nil for an unknown day.
    init?(iptc day: String?, time: String?) {
        func numbers(_ text: String?, _ lengths: [Int]) -> [Int]? {
            guard let text, text.utf8.count >= lengths.reduce(0, +) else { return nil }
            var rest = Array(text.utf8)[...]
            var numbers: [Int] = []
            for length in lengths {
                guard let number = Int(String(decoding: rest.prefix(length), as: UTF8.self)) else {
                    return nil
                }
                numbers.append(number)
                rest = rest.dropFirst(length)
            }
            return numbers
        }
        guard let day = numbers(day, [4, 2, 2]) else { return nil }
        let time = numbers(time, [2, 2])
        self.init(day[0], day[1], day[2], hour: time?[0], minute: time?[1])
    }
}

/// Windows-1252, as which exiftool reads texts without a declared character set.
enum Windows1252 {
    /// 0x80 to 0x9F; undefined ones are those of Latin-1 (WHATWG Encoding, index windows-1252).
    private static let further: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013,
        0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
    ]

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            let code = (0x80..<0xA0).contains(byte) ? further[Int(byte) - 0x80] : UInt32(byte)
            if let scalar = Unicode.Scalar(code) { text.append(scalar) }
        }
        return String(text)
    }
}
