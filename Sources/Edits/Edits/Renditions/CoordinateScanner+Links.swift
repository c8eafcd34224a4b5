/// Places that are written without two numbers: links to maps, plus codes, three words, cells of grids.
extension CoordinateScanner {
    // MARK: Links

    /// Parts of hosts that serve maps, whatever country or host they are of: maps.google.de, map.baidu.com, maps.app.goo.gl, maps.apple.
    private static let mapLabels: Set = [
        "map", "maps", "amap", "openstreetmap", "osm", "opentopomap", "osmand", "what3words", "w3w",
        "waze", "mapy", "mapquest", "wikimapia", "2gis", "geohack", "omaps", "ge0", "mapcarta",
        "mapillary", "kartaview", "organicmaps", "geohash", "geocaching", "geoportail", "suncalc",
        "gps-coordinates", "latlong", "opencyclemap", "here", "wego",
    ]
    private static let mapHosts: Set = [
        "plus.codes", "her.is", "kko.to", "coord.info", "earth.google.com", "geonames.org",
    ]
    /// Schemes of programs that show maps.
    private static let mapSchemes: Set = [
        "geo", "map", "maps", "comgooglemaps", "comgooglemaps-x-callback", "waze", "bingmaps",
        "yandexmaps", "yandexnavi", "iosamap", "androidamap", "amapuri", "baidumap", "qqmap",
        "nmap",
        "kakaomap", "citymapper", "om", "ge0", "mapswithme", "here-location", "here-route",
        "osmandmaps", "google.navigation",
    ]
    /// Pages of those hosts that people link to in credits.
    private static let credits: Set = ["copyright", "about", "terms", "fixthemap"]
    private static let nameMax = 64

    /// Whether there is a link to a place on a map. What a short one leads to only its service knows.
    var hasLink: Bool {
        bytes.indices.contains { index in
            switch bytes[index] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): isMap(pathAt: index)
            case UInt8(ascii: ":"): isMap(schemeEndingAt: index)
            default: false
            }
        }
    }

    /// The name that ends at an offset: letters, digits, points and hyphens, in small letters.
    private func name(endingAt end: Int) -> String {
        let name = bytes[..<end].suffix(Self.nameMax).reversed().prefix {
            PlainText.isLetter($0) || PlainText.isDigit($0) || ".-".utf8.contains($0)
        }
        return String(decoding: name.reversed().map(PlainText.small), as: UTF8.self)
    }

    /// The letters and digits from an offset on, in small letters.
    private func word(at start: Int) -> String {
        let word = bytes[min(start, bytes.count)...].prefix(Self.nameMax).prefix {
            PlainText.isLetter($0) || PlainText.isDigit($0)
        }
        return String(decoding: word.map(PlainText.small), as: UTF8.self)
    }

    private func isMap(pathAt index: Int) -> Bool {
        let next = byte(index + 1)
        guard next > 0x20, !"/)]>.,;\"'".utf8.contains(next) else { return false }
        let host = name(endingAt: index)
        let labels = host.split(separator: ".").map(String.init)
        guard labels.count >= 2 else { return false }
        let first = word(at: index + 1)
        if ["map", "maps"].contains(first) { return true }
        let hosts = [host] + (labels[0] == "www" ? [String(host.dropFirst(4))] : [])
        return (!Self.mapLabels.isDisjoint(with: labels) || !Self.mapHosts.isDisjoint(with: hosts))
            && !Self.credits.contains(first)
    }

    private func isMap(schemeEndingAt index: Int) -> Bool {
        let scheme = name(endingAt: index)
        guard Self.mapSchemes.contains(scheme) else { return false }
        // Elsewhere a word with a colon is a word: "Map: Anna".
        return byte(index + 1) == UInt8(ascii: "/") && byte(index + 2) == UInt8(ascii: "/")
            || byte(index + 1) == UInt8(ascii: "?") || has(Array("q=".utf8), at: index + 1)
    }

    // MARK: Plus codes

    private static let codeLetters = Set("23456789CFGHJMPQRVWX".utf8)

    /// A code such as 8FW4V75V+8Q, or one without its first digits, such as V75V+8Q (Open Location Code 1.0).
    var hasPlusCode: Bool {
        bytes.indices.contains { index in
            guard bytes[index] == UInt8(ascii: "+") else { return false }
            let before = bytes[..<index].suffix(9).reversed().prefix {
                Self.codeLetters.contains($0)
            }
            let after = bytes[(index + 1)...].prefix(8).prefix { Self.codeLetters.contains($0) }
            let ends = [byte(index - before.count - 1), byte(index + 1 + after.count)]
            guard [4, 6, 8].contains(before.count), (2...7).contains(after.count),
                !ends.contains(where: { PlainText.isLetter($0) || PlainText.isDigit($0) })
            else { return false }
            // Short ones look like sums and words.
            let all = Array(before) + after
            return before.count == 8
                || all.contains(where: PlainText.isDigit)
                    && all.contains(where: PlainText.isLetter)
        }
    }

    // MARK: Words and grids

    /// Three words behind three strokes or the name of their service, a geohash behind its name, and cells of UTM's grid.
    var hasCode: Bool {
        bytes.indices.contains { index in
            switch PlainText.small(bytes[index]) {
            case UInt8(ascii: "/"):
                has(Array("///".utf8), at: index) && byte(index - 1) != UInt8(ascii: ":")
                    && isThreeWords(at: index + 3)
            case UInt8(ascii: "w"):
                ["what3words", "w3w"].contains { name in
                    isNamed(name, at: index) && isThreeWords(at: afterName(name, at: index))
                }
            case UInt8(ascii: "g"): isGeohash(at: index)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): isCell(at: index)
            default: false
            }
        }
    }

    private func isNamed(_ name: String, at index: Int) -> Bool {
        has(Array(name.utf8), at: index) && !PlainText.isLetter(byte(index - 1))
    }

    private func afterName(_ name: String, at index: Int) -> Int {
        var offset = index + name.utf8.count
        let end = offset + 5
        while offset < end, " :=/\"'".utf8.contains(byte(offset)) { offset += 1 }
        return offset
    }

    private func isThreeWords(at start: Int) -> Bool {
        var offset = start
        for part in 0..<3 {
            let length = bytes[min(offset, bytes.count)...].prefix(Self.nameMax).prefix {
                PlainText.isLetter($0)
            }.count
            guard length >= 2 else { return false }
            offset += length
            guard part < 2 else { break }
            guard byte(offset) == UInt8(ascii: ".") else { return false }
            offset += 1
        }
        return !PlainText.isDigit(byte(offset))
    }

    private func isGeohash(at index: Int) -> Bool {
        guard isNamed("geohash", at: index) else { return false }
        let hash = word(at: afterName("geohash", at: index))
        return hash.utf8.count >= 4 && hash.utf8.contains(where: PlainText.isDigit)
    }

    private static let gridLetters = Set("ABCDEFGHJKLMNPQRSTUVWXYZ".utf8)
    private static let bandLetters = Set("CDEFGHJKLMNPQRSTUVWX".utf8)

    /// A cell of the military grid, such as 31UDQ4825111943 and 31U DQ 48251 11943, or a point of UTM, such as 31U 448251 5411943.
    private func isCell(at index: Int) -> Bool {
        func digits(_ offset: Int) -> Int {
            bytes[min(offset, bytes.count)...].prefix(Self.nameMax).prefix(
                while: PlainText.isDigit
            ).count
        }
        func isLetters(_ range: Range<Int>) -> Bool {
            range.allSatisfy { Self.gridLetters.contains(byte($0)) }
        }
        func skipping(_ signs: String, from offset: Int) -> Int {
            var offset = offset
            let end = offset + 4
            while offset < end, signs.utf8.contains(byte(offset)) { offset += 1 }
            return offset
        }
        let before = byte(index - 1)
        // Parts of identifiers follow a hyphen.
        guard !PlainText.isDigit(before), !PlainText.isLetter(before),
            !".-".utf8.contains(before)
        else { return false }
        let zone = digits(index)
        let band = index + zone
        guard (1...2).contains(zone), Self.bandLetters.contains(byte(band)) else { return false }
        let square = byte(band + 1) == 0x20 ? band + 2 : band + 1
        if isLetters(square..<square + 2) {
            let first = byte(square + 2) == 0x20 ? square + 3 : square + 2
            let easting = digits(first)
            let second = first + easting
            let northing = byte(second) == 0x20 ? digits(second + 1) : 0
            let end = byte(northing > 0 ? second + 1 + northing : second)
            return !PlainText.isLetter(end)
                && (northing > 0
                    ? easting == northing && (3...5).contains(easting)
                    : [6, 8, 10].contains(easting))
        }
        let easting = skipping(" ,:;E", from: band + 1)
        guard easting > band + 1, digits(easting) == 6 else { return false }
        var next = easting + 6
        if byte(next) == UInt8(ascii: ".") { next += 1 + digits(next + 1) }
        let northing = skipping(" ,;mEN", from: next)
        return northing > next && (6...7).contains(digits(northing))
    }
}
