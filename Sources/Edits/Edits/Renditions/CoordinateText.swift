/// Coordinates of a place on Earth in a text for people: in a caption, a keyword, a comment.
///
/// Recognised are two decimal degrees beside each other, degrees with minutes or with a hemisphere, values that are named (`lat=`), ISO 6709,
/// NMEA 0183, `geo:` (RFC 5870), links to maps, plus codes, three words behind strokes, and cells of UTM's grids, in any script's digits and
/// escaped as in addresses. Dates and times beside numbers are passed over. Numbers up to 4 in lists of more than three, such as matrices, are
/// none. The time is proportional to the length of the text.
public enum CoordinateText {
    /// Whether bytes have coordinates, read in whatever of the usual encodings: UTF-8, UTF-16 and UTF-32 of either order, Latin-1, Windows-1252,
    /// Mac OS Roman, and the code pages 437 and 850.
    ///
    /// The encoding that a file states is not asked, because it is wrong as often as it is missing.
    public static func isIn(_ text: some Sequence<UInt8>) -> Bool {
        PlainText.readings(of: Array(text)).contains { isIn($0, readsLists: true) }
    }

    /// Whether a text has coordinates.
    ///
    /// - Parameter readsLists: whether two of more than three numbers may be a place; not in settings of pictures, which are such lists.
    public static func isIn(_ text: String, readsLists: Bool = true) -> Bool {
        isIn(PlainText(text), readsLists: readsLists)
    }

    /// Whether coordinates stand in data that are no text as a whole, such as the owner's name in a maker's note: only what is ASCII is read, also
    /// with a zero beside each letter, because chance makes a sign of degrees of other bytes.
    public static func isIn(data: some Collection<UInt8>) -> Bool {
        func isText(_ byte: UInt8) -> Bool { (0x20..<0x7F).contains(byte) }
        var (narrow, wide): ([UInt8], [UInt8]) = ([], [])
        var zeros = 0
        for byte in data {
            // A zero ends a text of one byte a letter, and two end one of two bytes.
            if isText(byte) {
                narrow.append(byte)
                wide.append(byte)
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 2
            let isSame = narrow.count == wide.count
            if narrow.count >= textMin, isIn(narrow) { return true }
            narrow = []
            guard zeros > 1 else { continue }
            if !isSame, wide.count >= textMin, isIn(wide) { return true }
            wide = []
        }
        return [narrow, wide].contains { $0.count >= textMin && isIn($0) }
    }

    /// The shortest text in data that is searched, of the length of `lat=1.25`.
    private static let textMin = 8

    /// Most times that a text may be escaped.
    private static let escapesMax = 3

    private static func isIn(_ text: PlainText, readsLists: Bool) -> Bool {
        func findsPlace(_ text: PlainText) -> Bool {
            CoordinateScanner(bytes: text.bytes, readsLists: readsLists).findsPlace()
        }
        func findsPlaceBesideDates(_ text: PlainText) -> Bool {
            // With its dates, which may be degrees (48:51:30N), and without.
            findsPlace(text) || text.withoutDates.map(findsPlace) ?? false
        }
        var text = text
        for _ in 0..<escapesMax {
            if findsPlaceBesideDates(text) { return true }
            guard let unescaped = text.unescaped else { return false }
            text = unescaped
        }
        return findsPlaceBesideDates(text)
    }

    /// Returns which texts of a list have coordinates, alone or together: a latitude in one keyword, and the longitude in another.
    public static func places(in list: [[UInt8]]) -> Set<Int> {
        var places = Set(list.indices.filter { isIn(list[$0]) })
        func add(_ indices: [Int]) {
            for (first, second) in zip(indices, indices.dropFirst())
            where isIn(list[first] + Array(", ".utf8) + list[second]) {
                places.formUnion([first, second])
            }
        }
        add(list.indices.filter { !places.contains($0) })
        func scanners(_ index: Int) -> [CoordinateScanner] {
            PlainText.readings(of: list[index]).map { CoordinateScanner(bytes: $0.bytes) }
        }
        // Programs sort keywords, so others may stand between numbers.
        add(
            list.indices.filter { index in
                !places.contains(index) && scanners(index).contains(where: \.isOneNumber)
            })
        // Degrees, minutes, seconds and a hemisphere may be one item each.
        let parts = list.indices.filter { index in
            !places.contains(index) && scanners(index).contains(where: \.isPartOfNumbers)
        }
        let together = parts.map { list[$0] }.joined(separator: Array(" ".utf8))
        if parts.count > 1, isIn(together) { places.formUnion(parts) }
        return places
    }
}

extension PhotoTexts {
    /// Returns the texts without those that have coordinates: the values of placeholders where places are removed.
    public var withoutCoordinates: PhotoTexts {
        func kept(_ text: String?) -> String? {
            text.flatMap { CoordinateText.isIn($0) ? nil : $0 }
        }
        let places = CoordinateText.places(in: creator.map { Array($0.utf8) })
        return PhotoTexts(
            creator: creator.indices.filter { !places.contains($0) }.map { creator[$0] },
            rights: kept(rights), title: kept(title), caption: kept(caption), date: date,
            tellsChange: tellsChange)
    }
}
