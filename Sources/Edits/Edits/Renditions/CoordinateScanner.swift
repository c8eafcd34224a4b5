/// The numbers of a text, from left to right, judged as coordinates.
struct CoordinateScanner {
    /// A text as ``PlainText`` has it.
    let bytes: [UInt8]
    /// Whether two numbers of a list of more than three may be a place.
    var readsLists = true

    struct Number {
        var range: Range<Int>
        /// Digits before and after the point.
        var whole = 0
        var decimals = 0
        var isSigned = false
        var hasComma = false
        var value = 0.0
        /// Whether a sign of degrees follows, and minutes after it.
        var hasDegrees = false
        var hasMinutes = false
        /// The hemisphere that stands before or behind it.
        var hemisphere: Hemisphere?
        /// Whether a word such as "and" joins it with the number before, and whether a point does, as in a version.
        var isJoined = false
        var isDotted = false
    }

    struct Hemisphere {
        let isLatitude: Bool
        /// Whether it can hardly be anything else: a capital, or a word that means nothing else. `s` is a second, too, and `est` French for is.
        let isClear: Bool
    }

    /// Numbers beside each other, of which only what decides is kept.
    private struct Run {
        private(set) var last: [Number] = []
        /// How many of them have decimals, or are 0 and 1, as parts of matrices are. Dates and altitudes before or behind two do not count.
        private var count = 0
        private var digits = 0
        private var hasLatitude = false, hasLongitude = false
        /// Whether two that are beside each other are a place in a short run, and in a run of any length.
        var isPair = false, isPairOfList = false

        mutating func add(_ number: Number) {
            // Degrees, minutes and seconds are three.
            last = last.suffix(2) + [number]
            if number.decimals > 0 || number.value <= 1 { count += 1 }
            digits += number.whole + number.decimals
            guard let hemisphere = number.hemisphere, hemisphere.isClear else { return }
            if hemisphere.isLatitude { hasLatitude = true } else { hasLongitude = true }
        }

        func isPlace(readsLists: Bool) -> Bool {
            // Two of whole numbers with letters have nine digits: 485130N 0021740E, N 48 51 30 E 2 17 40, 4807.038,N,01131.000,E.
            hasLatitude && hasLongitude && digits >= Self.digitsMin
                || (count <= Self.runMax ? isPair : isPairOfList && readsLists)
        }

        private static let digitsMin = 9
        /// Numbers of a run that is no list: a zoom of a map and an altitude beside two.
        private static let runMax = 3
    }

    /// Most bytes between two numbers of a pair.
    static let gapMax = 4

    func findsPlace() -> Bool {
        if !isData, hasLink || hasCode { return true }
        guard bytes.contains(where: PlainText.isDigit) else { return false }
        if hasPlusCode { return true }
        if isData { return false }
        var run = Run()
        var offset = 0
        while var number = number(from: offset) {
            offset = number.range.upperBound
            if isPlaceAlone(number) || isNamed(number) || isScheme(number) { return true }
            if let before = run.last.last, follows(&number, before) {
                if isPlace(before, number) {
                    run.isPair = true
                    run.isPairOfList = run.isPairOfList || isPlaceOfList(before, number)
                }
            } else {
                if run.isPlace(readsLists: readsLists) { return true }
                run = Run()
            }
            run.add(number)
            if isSexagesimal(run.last) { return true }
        }
        return run.isPlace(readsLists: readsLists)
    }

    /// Whether it is a picture in Base64 and no text: long, without a point, a comma, a sign or a space.
    private var isData: Bool {
        bytes.count > Self.textMax
            && bytes.allSatisfy {
                PlainText.isLetter($0) || PlainText.isDigit($0) || "+/=\n".utf8.contains($0)
            }
    }
    private static let textMax = 4_096

    /// Whether the text is nothing but a number as degrees are written.
    var isOneNumber: Bool {
        guard let number = number(from: 0), number.value <= 180, number.decimals >= 3 else {
            return false
        }
        return (bytes[..<number.range.lowerBound] + bytes[number.range.upperBound...])
            .allSatisfy { $0 == 0x20 || $0 == UInt8(ascii: "\n") }
    }

    private static let signsOfNumbers = Set("0123456789.,:;+-/'\" \nNSEW".utf8).union([
        PlainText.degree
    ])

    /// Whether the text is nothing but numbers, signs of degrees and hemispheres: what stands with others of a list may be a place.
    var isPartOfNumbers: Bool {
        !bytes.isEmpty && bytes.allSatisfy(Self.signsOfNumbers.contains)
    }

    // MARK: One number

    func byte(_ offset: Int) -> UInt8 { bytes.indices.contains(offset) ? bytes[offset] : 0 }

    private struct Decimal {
        var whole = 0
        var decimals = 0
        var hasComma = false
        var value = 0.0
        var end = 0
    }

    /// Reads digits at an offset, perhaps with a point or a comma.
    private func decimal(at first: Int) -> Decimal? {
        var end = first
        while PlainText.isDigit(byte(end)) { end += 1 }
        guard end > first else { return nil }
        var decimal = Decimal(whole: end - first)
        let point = byte(end)
        if point == UInt8(ascii: ".") || point == UInt8(ascii: ","),
            PlainText.isDigit(byte(end + 1))
        {
            var last = end + 1
            while PlainText.isDigit(byte(last)) { last += 1 }
            // A comma before an own point separates two numbers: 48,16.3.
            let isPoint = point == UInt8(ascii: ".")
            let another = byte(last) == UInt8(ascii: ".") && PlainText.isDigit(byte(last + 1))
            if isPoint || !another {
                decimal.decimals = last - end - 1
                decimal.hasComma = !isPoint
                end = last
            }
        }
        let digits = bytes[first..<end].prefix(24).map {
            $0 == UInt8(ascii: ",") ? UInt8(ascii: ".") : $0
        }
        decimal.value = Double(String(decoding: digits, as: UTF8.self)) ?? .infinity
        decimal.end = end
        return decimal
    }

    private func number(from start: Int) -> Number? {
        guard
            let first = bytes[min(start, bytes.count)...].firstIndex(where: PlainText.isDigit),
            let decimal = decimal(at: first)
        else { return nil }
        var number = Number(
            range: first..<decimal.end, whole: decimal.whole, decimals: decimal.decimals,
            hasComma: decimal.hasComma, value: decimal.value)
        if first > start, "+-".utf8.contains(byte(first - 1)) {
            number.range = first - 1..<decimal.end
            number.isSigned = true
        }
        readDegrees(&number)
        readHemisphere(&number, from: start)
        return number
    }

    // MARK: Signs

    private static let degreeSigns =
        [
            [PlainText.degree]
        ]
        + ["degrees", "degree", "degres", "deg", "grados", "gradi", "graus", "grad"].map {
            Array($0.utf8)
        }
    private static let minuteSigns = ["'", "min"].map { Array($0.utf8) }
    private static let secondSigns = ["\"", "''", "sec"].map { Array($0.utf8) }

    private func skippingSpace(_ offset: Int) -> Int {
        var offset = offset
        while byte(offset) == 0x20 { offset += 1 }
        return offset
    }

    /// Whether a word in small letters stands at an offset, written in whatever letters.
    func has(_ word: [UInt8], at offset: Int) -> Bool {
        offset >= 0 && offset + word.count <= bytes.count
            && word.indices.allSatisfy { PlainText.small(bytes[offset + $0]) == word[$0] }
    }

    private func end(of signs: [[UInt8]], at offset: Int) -> Int? {
        let start = skippingSpace(offset)
        guard start - offset <= 2 else { return nil }
        return signs.first { has($0, at: start) }.map { start + $0.count }
    }

    private func decimal(after offset: Int) -> Decimal? { decimal(at: skippingSpace(offset)) }

    /// The end of minutes behind a letter that stands for the sign of degrees: 48d51m30s, 48o51'30".
    private func endOfMinutes(behindLetterAt offset: Int) -> Int? {
        guard "do".utf8.contains(PlainText.small(byte(offset))),
            let minutes = decimal(at: offset + 1), minutes.value < 60,
            "'m".utf8.contains(byte(minutes.end)), !PlainText.isLetter(byte(minutes.end + 1))
        else { return nil }
        return minutes.end + 1
    }

    private func readDegrees(_ number: inout Number) {
        guard number.value <= 180 else { return }
        if let end = endOfMinutes(behindLetterAt: number.range.upperBound) {
            (number.hasDegrees, number.hasMinutes) = (true, true)
            number.range = number.range.lowerBound..<end
            return
        }
        guard let degrees = end(of: Self.degreeSigns, at: number.range.upperBound) else { return }
        number.hasDegrees = true
        var last = degrees
        if let minutes = decimal(after: degrees) {
            if let sign = end(of: Self.minuteSigns, at: minutes.end) {
                number.hasMinutes = true
                last = sign
                if let seconds = decimal(after: last) {
                    last = end(of: Self.secondSigns, at: seconds.end) ?? last
                }
            } else if minutes.value < 60 {
                // Minutes without a sign are some with decimals, or before a hemisphere.
                let seconds = decimal(after: minutes.end)
                let ends = [minutes.end] + (seconds.map { [$0.end] } ?? [])
                let end = ends.first { hemisphere(at: $0)?.found.isClear == true }
                if let end = end ?? (minutes.decimals >= 3 ? minutes.end : nil) {
                    number.hasMinutes = true
                    last = end
                }
            }
        }
        number.range = number.range.lowerBound..<last
    }

    // MARK: Hemispheres

    /// Words of hemispheres, whether they mean north or south, and whether they mean nothing else.
    private static let hemispheres: [String: (isLatitude: Bool, isClear: Bool)] = {
        var all: [String: (isLatitude: Bool, isClear: Bool)] = [:]
        for word in ["north", "south", "nord", "norte", "sud", "zuid", "noord"] {
            all[word] = (true, true)
        }
        for word in ["east", "west", "ouest", "oeste", "oost"] { all[word] = (false, true) }
        for word in ["n", "s", "sur", "sul"] { all[word] = (true, false) }
        for word in ["e", "w", "o", "est", "este", "ost"] { all[word] = (false, false) }
        return all
    }()
    private static let wordMax = 5

    private func hemisphere(_ word: Range<Int>) -> Hemisphere? {
        let text = String(decoding: bytes[word].map(PlainText.small), as: UTF8.self)
        guard let known = Self.hemispheres[text] else { return nil }
        // EST is a zone of time.
        let capitals = bytes[word].prefix { $0 & 0x20 == 0 }.count
        return Hemisphere(
            isLatitude: known.isLatitude, isClear: known.isClear || capitals == 1)
    }

    /// Returns the hemisphere that follows a number which ends at an offset.
    private func hemisphere(at offset: Int) -> (found: Hemisphere, end: Int)? {
        var start = skippingSpace(offset)
        guard start - offset <= 1 else { return nil }
        if ",;".utf8.contains(byte(offset)), isLoneHemisphere(at: offset + 1) { start = offset + 1 }
        let word =
            start..<start
            + bytes[start...].prefix(Self.wordMax + 1).prefix {
                PlainText.isLetter($0)
            }.count
        guard !word.isEmpty, word.count <= Self.wordMax,
            let found = hemisphere(word)
        else { return nil }
        if PlainText.small(byte(start)) == UInt8(ascii: "e"), word.count == 1 {
            // An exponent: 1.5e-05.
            var digits = word.upperBound
            if "+-".utf8.contains(byte(digits)) { digits += 1 }
            if let exponent = decimal(at: digits), exponent.decimals == 0 { return nil }
        }
        return (found, word.upperBound)
    }

    /// Whether the letter of a hemisphere stands between commas: 4807.038,N,01131.000,E.
    private func isLoneHemisphere(at offset: Int) -> Bool {
        "NSEW".utf8.contains(byte(offset))
            && (offset + 1 == bytes.count || ",;*\n".utf8.contains(byte(offset + 1)))
    }

    private func readHemisphere(_ number: inout Number, from start: Int) {
        if let (found, end) = hemisphere(at: number.range.upperBound) {
            number.hemisphere = found
            number.range = number.range.lowerBound..<end
            return
        }
        var end = number.range.lowerBound
        while end > start, number.range.lowerBound - end < 2, " :=".utf8.contains(byte(end - 1)) {
            end -= 1
        }
        let letters = bytes[start..<end].suffix(Self.wordMax + 1).reversed().prefix {
            PlainText.isLetter($0)
        }.count
        guard (1...Self.wordMax).contains(letters),
            end - letters > start || start == 0 || !PlainText.isLetter(byte(start - 1))
        else { return }
        number.hemisphere = hemisphere(end - letters..<end)
    }

    /// Degrees with minutes or a hemisphere, and decimals with a hemisphere. Fewer decimals are watts: 5.25 W.
    private func isPlaceAlone(_ number: Number) -> Bool {
        guard number.value <= 180 else { return false }
        if number.hasMinutes { return true }
        guard let hemisphere = number.hemisphere else {
            return number.hasDegrees && number.decimals >= 4
        }
        let needed = number.hasDegrees ? hemisphere.isClear ? 0 : 2 : 3
        return number.decimals >= needed && (number.hasDegrees || hemisphere.isClear)
    }

    // MARK: Two numbers

    private static let separators = Set(" ,;/|:\n()[]".utf8)
    private static let joins = [
        "and", "und", "et", "y", "&", "-", "~", "_", "\",\"", "\", \"", "\":\"",
    ].map { Array($0.utf8) }
    private static let joinMax = 6, wordsMax = 14
    private static let foreign = separators.union([PlainText.letter, 0x2E, 0x3D])

    private func follows(_ number: inout Number, _ last: Number) -> Bool {
        let gap = bytes[last.range.upperBound..<number.range.lowerBound]
        // The letter of a hemisphere separates, too: N48 51 30E2 17 40.
        if gap.isEmpty { return number.isSigned || last.hemisphere != nil }
        if gap.count <= Self.gapMax, gap.allSatisfy(Self.separators.contains) { return true }
        if gap.elementsEqual(".".utf8) {
            number.isDotted = true
            return true
        }
        guard gap.count <= Self.wordsMax else { return false }
        let word = gap.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed()
        let isForeign =
            gap.contains(PlainText.letter)
            && gap.allSatisfy(Self.foreign.contains)
        // Between numbers as exact as places may stand words of any language: 48.85837, Breite, 2.29448; 48.8584 с.ш. 2.2945 в.д.
        number.isJoined =
            gap.count <= Self.joinMax && Self.joins.contains { $0.elementsEqual(word) }
            || min(last.decimals, number.decimals) >= (isForeign ? 4 : 5)
        return number.isJoined
    }

    /// Two numbers up to 4 are of a matrix, and the place would be in the Gulf of Guinea.
    private func isPlaceOfList(_ first: Number, _ second: Number) -> Bool {
        max(first.value, second.value) > 4
    }

    private func isPlace(_ first: Number, _ second: Number) -> Bool {
        if isSigned(first, second) { return true }
        let (low, high) = (min(first.value, second.value), max(first.value, second.value))
        guard low <= 90, high <= 180, first.whole <= 3, !second.isDotted,
            second.whole <= 3 || isAdjacent(first, second)
        else { return false }
        // Two numbers up to 2 are parts of a picture or a colour; the place would be in the Gulf of Guinea.
        guard high > 2 else { return false }
        let least = min(first.decimals, second.decimals)
        if let one = first.hemisphere, let other = second.hemisphere,
            one.isLatitude != other.isLatitude, least >= 2
        {
            return true
        }
        // The letter is a unit, such as in 10.125 s, 20.250 s, and not the Italian "e" between two numbers.
        if let unit = first.hemisphere, !unit.isClear,
            unit.isLatitude || second.hemisphere?.isClear == false
        {
            return false
        }
        if isAdjacent(first, second) {
            // ISO 6709: +48.8584+002.2945/. In addresses the sign is a space: q=48.85+2.29.
            return least >= (first.isSigned && second.isSigned || isOfMap(first) ? 2 : 4)
        }
        if isOfMap(first) { return least >= 2 }
        let needed = first.hasComma || second.hasComma || second.isJoined ? 4 : 3
        return least >= needed || least >= 2 && max(first.decimals, second.decimals) >= needed + 1
    }

    /// Whether two numbers are degrees and minutes, perhaps with seconds, by ISO 6709: +4851.504+00217.670/, +485130+0021740/.
    private func isSigned(_ first: Number, _ second: Number) -> Bool {
        isAdjacent(first, second) && first.isSigned && second.isSigned
            && [4, 6].contains(first.whole) && [5, 7].contains(second.whole)
            // Numbers of phones have neither.
            && (first.decimals > 0 || byte(second.range.upperBound) == UInt8(ascii: "/"))
    }

    private func isAdjacent(_ first: Number, _ second: Number) -> Bool {
        first.range.upperBound == second.range.lowerBound
    }

    /// Whether numbers beside each other are degrees, minutes and perhaps seconds without signs: N 48 51.502, 48:51:30N, 48 51 30.1 N,
    /// Latitude: 48 51 30.
    private func isSexagesimal(_ numbers: [Number]) -> Bool {
        func isClear(_ number: Number) -> Bool { number.hemisphere?.isClear == true }
        guard let last = numbers.last, last.value < 60 else { return false }
        if numbers.count >= 2 {
            let degrees = numbers[numbers.count - 2]
            if degrees.decimals == 0, degrees.value <= 180, isClear(degrees), last.decimals >= 3 {
                return true
            }
        }
        guard numbers.count == 3 else { return false }
        let (degrees, minutes) = (numbers[0], numbers[1])
        guard degrees.decimals == 0, degrees.value <= 180, minutes.decimals == 0,
            minutes.value < 60
        else { return false }
        if hasName(before: degrees) { return true }
        guard isClear(degrees) || isClear(last) else { return false }
        // Whole numbers with spaces are sizes of clothes, too: 38 40 42 S.
        return last.decimals > 0
            || [degrees, minutes].allSatisfy { byte($0.range.upperBound) == UInt8(ascii: ":") }
    }
}
