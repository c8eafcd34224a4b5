/// Numbers that a name, a scheme or a part of an address says to be a place.
extension CoordinateScanner {
    private static let names = [
        "latitude", "longitude", "longtitude", "latitud", "longitud", "breitengrad", "langengrad",
        "lat", "lng", "lon", "long", "mlat", "mlon", "!3d", "!4d", "!2d", "latitudee7",
        "longitudee7", "late7", "lnge7", "lone7",
    ].map { Array($0.utf8) }
    /// It is a word of its own: "2.25 m long".
    private static let long = Array("long".utf8)
    private static let between = Set(" :=\"'([>.".utf8)

    /// Whether a number is named as a latitude or a longitude.
    func isNamed(_ number: Number) -> Bool {
        // Whole numbers count millionths, or tenths of those.
        let isScaled = number.decimals == 0 && (7...10).contains(number.whole)
        guard isScaled || number.value <= 180 && (number.decimals >= 2 || number.hasDegrees) else {
            return false
        }
        if hasName(before: number) { return true }
        // Behind it: 48.8584 (lat).
        var start = number.range.upperBound
        while start - number.range.upperBound < 2, " (".utf8.contains(byte(start)) { start += 1 }
        return number.decimals >= 3
            && Self.names.contains { name in
                name != Self.long && has(name, at: start)
                    && !PlainText.isLetter(byte(start + name.count))
            }
    }

    func hasName(before number: Number) -> Bool {
        var end = number.range.lowerBound
        while end > 0, number.range.lowerBound - end < Self.gapMax,
            Self.between.contains(byte(end - 1))
        { end -= 1 }
        return Self.names.contains { isName($0, before: end, of: number) }
    }

    private func isName(_ name: [UInt8], before end: Int, of number: Number) -> Bool {
        let start = end - name.count
        guard has(name, at: start) else { return false }
        if name == Self.long, number.decimals < 3, !number.hasDegrees { return false }
        // Short ones end other words, too; centerLat is two words.
        let before = byte(start - 1)
        let isNewWord = PlainText.small(bytes[start]) != bytes[start]
        let endsWord =
            PlainText.isLetter(before) && !(isNewWord && PlainText.small(before) == before)
        return name.count > 4 || start == 0 || !endsWord || !PlainText.isLetter(name[0])
    }

    private static let scheme = Array("geo:".utf8)
    private static let location = Array("loc:".utf8)

    func isScheme(_ number: Number) -> Bool {
        has(Self.scheme, at: number.range.lowerBound - Self.scheme.count)
    }

    /// Words before two numbers that are a place.
    private static let namesOfPairs = [
        "gps", "coord", "coords", "coordinate", "coordinates", "koordinaten", "coordonnees",
        "coordenadas", "coordinaten", "position", "location", "standort", "point", "linestring",
        "polygon", "latlng", "latlon", "latlong", "lat/long", "lonlat", "lnglat", "longlat",
        "geopoint", "geotag", "wgs84",
    ].map { Array($0.utf8) }
    private static let beforePairs = Set(" :=\"'([{>".utf8)
    private static let beforePairsMax = 6

    /// `@48.85,2.29`, `q=48.85,2.29`, `q=loc:48.85,2.29`, `ll=…`, `"coordinates": [2.29, 48.85]`, `POINT(2.29 48.85)`.
    func isOfMap(_ number: Number) -> Bool {
        var end = number.range.lowerBound
        if "@=".utf8.contains(byte(end - 1)) || has(Self.location, at: end - Self.location.count) {
            return true
        }
        while end > 0, number.range.lowerBound - end < Self.beforePairsMax,
            Self.beforePairs.contains(byte(end - 1))
        { end -= 1 }
        return Self.namesOfPairs.contains { name in
            has(name, at: end - name.count) && !PlainText.isLetter(byte(end - name.count - 1))
        }
    }
}
