import Edits

extension IPTC {
    /// Data sets of the envelope and of the application record that stay where the place of a photo is removed: all of IIM 4.2 but
    /// previews. Records behind them are about other kinds of files, or those of a program.
    private static let known: [Int: Set<Int>] = [
        1: [0, 5, 20, 22, 30, 40, 50, 60, 70, 80, 90, 100, 120, 122],
        2: Set(0...154).subtracting([125]),
    ]

    /// Returns the records without a text that has coordinates. Names of places that somebody wrote (City, Sub-location) stay.
    public var withoutCoordinates: IPTC {
        var records = IPTCRecords(self.records)
        records.sets.removeAll { Self.known[$0.record]?.contains($0.number) != true }
        // Values of one data set are a list: keywords.
        let lists = Dictionary(grouping: records.sets.indices) { index in
            [records.sets[index].record, records.sets[index].number]
        }
        var places = Set<Int>()
        for list in lists.values {
            let found = CoordinateText.places(in: list.map { records.sets[$0].value })
            places.formUnion(found.map { list[$0] })
        }
        records.sets = records.sets.indices.filter { !places.contains($0) }.map { records.sets[$0] }
        records.dropRest()
        let bytes = records.bytes
        guard bytes != self.records else { return self }
        // The digest says whether the records are newer than the XMP, which stays as true as it was.
        return IPTC(
            records: bytes,
            digest: digest.map { _ in
                isNewerThanXMP ? [UInt8](repeating: 0, count: 16) : Self.md5(bytes)
            })
    }
}

/// The texts of a PNG that stay where the place of a photo is removed.
public enum PlacelessText {
    /// Keys of the PNG specification, third edition §11.3.3.1, and of dates that ImageMagick writes. Under others programs write what they like,
    /// EXIF and its GPS among it.
    private static let keys: Set = [
        "title", "author", "description", "copyright", "creation time", "software", "disclaimer",
        "warning", "source", "comment", "collection", "date:create", "date:modify",
        "date:timestamp",
    ]

    public static func isPlaceless(_ key: String, _ text: String) -> Bool {
        keys.contains(key.lowercased()) && !CoordinateText.isIn(text)
    }
}
