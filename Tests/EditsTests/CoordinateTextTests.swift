import Edits
import Testing

@Suite("Coordinates in texts") struct CoordinateTextTests {
    @Test(arguments: [
        "48.8584, 2.2945", "Wedding at 48.8584,2.2945!", "(-33.8568; 151.2153)",
        "48.85837 2.29448 120",
        "48° 51' 30.2\" N, 2°17'40\" E", "N 48.8584 E 2.2945", "48.8584N 2.2945W", "51°N",
        "S 33° 51.4'",
        "lat=48.86", "geo:lat=48.85", "Latitude: 48.86", "lng: -2.29", "GPSLongtitude 20.76",
        "+48.8584+002.2945/", "+40.6894-074.0447+010.000/", "geo:48,16", "geo:48.2010,16.3695,183",
        "https://maps.google.com/?q=48.85,2.29", "https://www.google.com/maps/@48.85,2.29,15z",
        "https://www.openstreetmap.org/#map=15/48.8584/2.2945", "48,8584; 2,2945", "8FW4V75V+8Q",
        "−33.8568, 151.2153", "10,7.4074E", "48º51\u{2032}",
        "https://www.google.com/maps/search/?api=1&query=48.85%2C2.29",
        "query=48.8583701%252C2.2944813",
        "https://www.google.com/maps/place/Tour/data=!3d48.8583701!4d2.2944813",
        "https://www.openstreetmap.org/?mlat=48.86#map", "x&mlon=2.29", "geo:long=2.2944813",
        "long=2.2944813",
        "Lat.: 48.86", "Long.: 2.2944", "48.8583701,\u{A0}2.2944813", "48.8583701\u{3000}2.2944813",
        "48.8583701,\u{202F}2.2944813",
        "48.8583701，2.2944813", "48.8583701、2.2944813", "４８．８５８３７０１，２．２９４４８１３", "٤٨٫٨٥٨٣٧، ٢٫٢٩٤٤٨",
        "48.8583701n 2.2944813e", "48.8583701° n", "48° 51.50220, 2° 17.66889", "48° 51 30 N",
        "48° 51.5 N",
        "48.8583701 North, 2.2944813 East", "north 48.858", "48.85° Nord, 2.29° Ost",
        "48.8583701° and 2.2944813°",
        "48.8584 and 2.2945", "48.8584, 2.2945 e Roma", "48.8584 e 2.2945", "48.85N 2.29E",
        "N 48 51.502", "48:51:30N", "48 51 30.1 N",
        "48\u{200B}.8584, 2.2945", "48&deg;51&#39;", "{\"lat\":\"48.85\"}",
        "[\"48.8584\",\"2.2945\"]", "48\\u00b051'",
        "48Â°51'", "centerLat=48.85", "48.8584 (lat)", "8FW4V75V%2B8Q", "q=loc:48.85,2.29",
        "48 degrees 51' N", "Latitude: 48 51 30 N, Longitude: 2 17 40 E",
        "Lat 48 51 30 Lon 2 17 40",
        "latlong 48.86 2.29", "lat/long: 48.86, 2.29",
    ])
    func `are recognised`(text: String) {
        #expect(CoordinateText.isIn(text))
        #expect(CoordinateText.isIn("before " + text + " after"))
        #expect(CoordinateText.isIn(text.utf8), "as bytes")
    }

    @Test(arguments: [
        "", "Anna Müller", "Paris, France", "f/1.8, 1/250 s, ISO 100", "2026-11-29T10:00:00+01:00",
        "+49 30 1234567", "1.5 m", "5.25 W", "20 °C", "24.0-70.0 mm f/2.8",
        "0.3127 0.3290 0.64 0.33",
        "1.25, 0.75", "3840x2160", "v1.2.3", "10.1234567", "Room 12, 34", "100 W lamp",
        "4,500 5,200",
        "1:2.8", "ProPhoto 1.000 0.000 0.000 0.000 1.000 0.000", "48.8584", "ABCDEFGH+12", "№ 7",
        "uuid:48AC1234-2294-4F5E", "iPhone 15 Pro back camera 6.765mm f/1.78", "C2PA+XMP",
        "0.3127, 0.3290", "1.2345E-05", "2026-11-29 10:30:15.123 EST", "Sizes 38 40 42 S M L",
        "10.125 s, 20.250 s", "0.125s",
        "€ 1.299,00 / € 1.499,00", "$12.50, $13.75", "12.50 13.75", "+49.30.1234567",
        "+1-555-123-4567", "(030) 12 34 56", "29.11.2026, 10.30",
        "2026:11:29 10:30:15.12", "v10.15.7 (19.1)", "DxO 7.3.1, 6.2", "1/1.28\" sensor",
        "2.250 m long", "between 1.250 and 3.750",
        "Sony E 18-135mm F3.5-5.6 OSS", "a 45° e 90°", "20° 5% off", "at 20°C 5 kg", "1.234 est",
        "ISO 12232:2019 E", "50% 2C 10", "100%25", "two 180°s", "8.5 x 11.5 in",
        "8\" x 10\"", "10×15 cm", "3.2 MB, 4.5 MB", "aspect 1.7778, 1.5000", "Lens 1.125 and 2.250",
        "EF 24-105mm f/4L IS USM", "4.25mm f/1.8", "1920×1080 @ 59.94 fps", "12.345,67",
        "Flat 48.25", "plate 12.34", "5'11\" tall", "Flat 10 20 30", "long 10 20 30",
    ])
    func `are not seen where there are none`(text: String) {
        #expect(!CoordinateText.isIn(text))
        #expect(!CoordinateText.isIn(text.utf8), "as bytes")
    }

    private static let beyondOnePair: [String] = [
        // Dates and times before, between and behind.
        "2026-11-28 48.8584, 2.2945", "2026:11:28 12:30:05 48.8584 2.2945",
        "28.11.2026 48.8584, 2.2945", "11/28/2026 48.8584, 2.2945",
        "20261128T123005Z 48.8584 2.2945", "2026-11-28T12:30:05+01:00 48.8584, 2.2945",
        "12:30:05 48.85N 2.29E", "12:30:05.123 UTC, 48.8584, 2.2945", "48.8584, 2026-11-28, 2.2945",
        "48.8584 12:30:05 2.2945", "48.8584, 2026-11-28 12:30:05Z, 2.2945",
        "48.8584, 2.2945, 2026-11-28 12:30",
        // Lists.
        "1732791005 48.8584 2.2945 35.2 1.5", "48.8584,2.2945,35.0,120.5",
        "48.8584,2.2945;48.8600,2.3000", "48.8584 2.2945, 48.8600 2.3000, 48.8611 2.3010",
        // Names, grids, sentences of receivers, whole numbers.
        "LINESTRING(2.29 48.85, 2.30 48.86)", "{\"type\":\"Point\",\"coordinates\":[2.29,48.85]}",
        "POINT(2.29 48.85)", "GPS 48.85 2.29", "Koordinaten: 48.85, 2.29", "V75V+8Q Paris",
        "31UDQ4825111943", "31U DQ 48251 11943", "31U 448251 5411943", "31U 448251.5mE 5411943mN",
        "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47", "485130N 0021740E",
        "48 51 30 N 2 17 40 E", "N 48 51 30 E 2 17 40", "48-51-30N 002-17-40E",
        "48,51,30N 2,17,40E", "48.8584 - 2.2945", "48.8584_2.2945", "48.8584~2.2945",
        "48.8584\\n2.2945", "N48.51.30 E2.17.40",
        // Signs of addresses, and words of other languages.
        "q=48.85+2.29", "48.8584+2.2945", "48.8584 с.ш. 2.2945 в.д.", "北纬48.8584 东经2.2945",
        "北緯48度51分30秒", "широта 48.8584, долгота 2.2945", "Breite 48.85837, Länge 2.29448",
        "위도 48.8584 경도 2.2945", "48d51m30s N", "48o51'30\"", "{\"latitudeE7\":488584000}",
        "lon=22945000", "+4851.504+00217.670/", "-485130+0021740/",
        "<coordinates>2.29,48.85,0</coordinates>",
    ]

    private static let links: [String] = [
        "https://maps.google.com/maps/dir/48.8584,2.2945/48.8600,2.3000",
        "https://maps.app.goo.gl/AbCdEf123", "http:\\/\\/maps.app.goo.gl\\/AbCdEf123",
        "https%3A%2F%2Fmaps.app.goo.gl%2FAbCdEf123", "goo.gl/maps/AbCdEf",
        "https://maps.apple.com/?address=Rue", "https://maps.apple/p/AbC123",
        "https://www.bing.com/maps?cp=48.8584~2.2945&lvl=15", "https://www.bing.com/maps?osid=abc",
        "https://osm.org/go/0BOcCgVdg--", "https://www.openstreetmap.org/node/123456",
        "https://waze.com/ul/hu09tunm5k", "https://www.google.com/maps/place/Tour+Eiffel",
        "https://www.google.com/maps/@48.85,2.29,15z", "https://maps.google.de?cid=1234567890",
        "comgooglemaps://?center=a", "maps:?q=Tour", "geo:0,0?q=Tour+Eiffel",
        "google.navigation:q=Tour", "https://what3words.com/filled.count.soap",
        "https://w3w.co/filled.count.soap", "///filled.count.soap", "what3words: filled.count.soap",
        "https://plus.codes/8FW4V75V+8Q", "https://maps.google.com/?daddr=48.85,2.29",
        "https://share.here.com/l/48.85,2.29", "https://yandex.ru/maps/-/CCUabc",
        "https://mapy.cz/s/abcdef", "https://2gis.ru/geo/123", "https://geohash.org/u09tunq",
        "geohash: u09tunqu", "https://map.baidu.com/?poi=1",
        "https://uri.amap.com/marker?position=116.40,39.90",
        "https://earth.google.com/web/search/x", "https://omaps.app/abc", "https://kko.to/abc",
    ]

    @Test(arguments: beyondOnePair + links)
    func `are recognised beside dates, in lists, by name, on grids and as links`(text: String) {
        #expect(CoordinateText.isIn(text))
        #expect(CoordinateText.isIn("before " + text + " after"))
        #expect(CoordinateText.isIn(text.utf8), "as bytes")
    }

    @Test(arguments: [
        "Found with Google Maps.", "© OpenStreetMap contributors",
        "© OpenStreetMap contributors, https://www.openstreetmap.org/copyright", "Map: Anna",
        "https://example.com/photos/2026/11", "www.anna-mueller.de/portfolio", "and/or here/there",
        "2026-11-28 12:30:05", "2026-11-28T12:30:05.123+01:00", "28.11.2026, 10.30 Uhr",
        "Shot on 2026-11-28 with f/2.8, 1/250 s, 50.0 mm", "IMG_20261128_123005.jpg",
        "Nikon AF-S NIKKOR 500mm f/5.6E PF ED VR", "AF-S DX VR Zoom-Nikkor 18-55mm f/3.5-5.6G",
        "Sony FE 24-70mm F2.8 GM II", "Canon EF-S 18-135mm f/3.5-5.6 IS STM",
        "3.1339 -1.6169 -0.4906 -0.9788 1.9161 0.0335",
        "0.8951 0.2664 -0.1614 -0.7502 1.7135 0.0367", "1 0 0 0 1 0 0 0 1", "192.168.10.145",
        "10.123.45.678", "Windows 10.0.19045.3693", "v1.234.56", "/home/anna/photo.jpg",
        "file:///home.anna.photos", "file:///a.b.c", "see ///", "Q3 + Q4", "WQHD+", "MP3+MP4",
        "5G+4G", "1080p 59.94", "31 U Bahn", "24MPX 1080p", "12 MP 4000 x 3000",
        "uuid:12345678-1234-1234-1234-123456789012", "xmp.iid:5a1c8c2e-0b7d-41b5-9d3c-1234567890ab",
        "Adobe Photoshop 25.1 (Windows)",
        "Steps: 20, Sampler: Euler a, CFG scale: 7.5, Seed: 123456789, Size: 512x512",
        "x265 - ip-ratio=1.40 pb-ratio=1.30", "12:30-14:45", "Room 12.50, 13.75", "1:2.8 24-70",
        "Position 3 of 12", "score 3.5, 4.25", "4.5 x 6.0 cm", "+49 (0)30 1234-5678",
        "Open 9:00-17:30, 9.00", "Coordinates unknown", "GPS off",
        "Anna & Ben 12.05.2024 / 13.05.2024", "F4CDE9A1-9E0B-4C1D-8A7B-4CDE12345678", "室温 20度",
        "45度、撮影 10時30分", "Länge: 2.25 m, Breite 1.10 m", "1.5 + 2.25", "3d print, 2D",
        "Flat 1234567", "+4930-12345",
        "module: photo; aec_lux: 144.26443; cct_value: 0.0",
    ])
    func `are not seen in dates, versions, lenses, matrices and other links`(text: String) {
        #expect(!CoordinateText.isIn(text))
        #expect(!CoordinateText.isIn(text.utf8), "as bytes")
    }

    @Test func `of settings of pictures lists of more than three numbers are none`() {
        let points = "88.823364 -5.281250 -1.921875 0.020000 0.013672 0.050000"
        #expect(CoordinateText.isIn(points))
        #expect(!CoordinateText.isIn(points, readsLists: false))
        #expect(CoordinateText.isIn("48.8584, 2.2945", readsLists: false))
    }

    @Test func `are recognised in data that are no text`() {
        let place = "48.8584, 2.2945"
        let wide: [UInt8] = place.utf8.flatMap { [$0, 0] }
        for text in [Array(place.utf8), wide] {
            #expect(CoordinateText.isIn(data: [0xFF, 0, 0, 1] + text + [0, 0, 0xFE]))
            #expect(CoordinateText.isIn(data: text))
        }
        #expect(!CoordinateText.isIn(data: [0xFF, 0, 0x34, 0x38, 0xB0, 0x35, 0x31, 0x27]))
    }

    private static let encodings: [(String, @Sendable (String) -> [UInt8])] = [
        ("UTF-8", { Array($0.utf8) }),
        ("Latin-1", { $0.unicodeScalars.map { UInt8($0.value) } }),
        ("Mac OS Roman", { $0.unicodeScalars.map { $0 == "°" ? 0xA1 : UInt8($0.value) } }),
        ("code page 437", { $0.unicodeScalars.map { $0 == "°" ? 0xF8 : UInt8($0.value) } }),
        ("UTF-16LE", { $0.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } }),
        ("UTF-16BE", { $0.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }),
        ("UTF-32BE", { $0.unicodeScalars.flatMap { [0, 0, 0, UInt8($0.value)] } }),
    ]

    @Test(arguments: [
        "48°51'30.1\"N 2°17'40.1\"E", "48.85° N, 2.29° E", "48.8584, 2.2945", "at lat=48.86",
    ])
    func `are recognised in whatever encoding, behind bytes of another`(text: String) {
        for (name, encoded) in Self.encodings {
            for head in ["", "UNICODE\0", "\u{1}\u{2}"] {
                #expect(
                    CoordinateText.isIn(Array(head.utf8) + encoded(text)), "\(name), \(head.count)")
            }
            #expect(!CoordinateText.isIn(encoded("Anna, 20 °C, 29.11.2026 10:30")), "\(name)")
        }
    }

    @Test func `are recognised in UTF-16 without a letter of Latin`() {
        let text = "４８．８５８３７０１，２．２９４４８１３"
        for isBig in [true, false] {
            let bytes = text.utf16.flatMap { unit in
                isBig
                    ? [UInt8(unit >> 8), UInt8(unit & 0xFF)]
                    : [UInt8(unit & 0xFF), UInt8(unit >> 8)]
            }
            #expect(CoordinateText.isIn(bytes))
        }
    }

    @Test(arguments: [
        (["48.8583701", "horse", "2.2944813"], [0, 2]),
        (["a", "48.8583701", "2.2944813 x"], [1, 2]),
        (["geo:lat=48.12", "Ulm"], [0]), (["1.5", "2.25", "Canon 5", "2026"], []), ([], []),
        (["0.125", "1.250"], []), (["48", "51", "30.2", "N"], [0, 1, 2, 3]),
        (["12:30 48.8584", "2.2945"], [0, 1]),
        (["48.8583701", "2026-11-28", "2.2944813"], [0, 2]),
        (["2026", "35", "50"], []), (["38", "40", "42", "S"], []),
    ])
    func `of a list those go that have some together`(list: [String], places: [Int]) {
        #expect(CoordinateText.places(in: list.map { Array($0.utf8) }) == Set(places))
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            "1", "1.", "1°", "1° ", " ", "1 ", "N", "+", "22222222+", "%25", "&#1;", "\\u0031",
            "1,",
            "1°1 1 ", "lat", "１", "\u{FFFD}", "1.1\",\"", "1' ", "&amp;amp;", "12:12:", "/", "a.",
            "a/", "2026-11-28 ", "31U ", "w3w ",
            "1.5 2.5 ",
        ])
    func `are searched in a time that grows with the text alone`(part: String) {
        func time(_ bytes: Int) -> Duration {
            let text = Array(String(repeating: part, count: bytes / part.utf8.count).utf8)
            return ContinuousClock().measure { _ = CoordinateText.isIn(text) }
        }
        // Were it the square, eight times the text would take 64 times as long.
        let short = time(10_000)
        let long = time(80_000)
        #expect(long < short * 40 + .milliseconds(500), "\(short), \(long)")
    }

    @Test func `of the photo's texts those with coordinates fill in no placeholder`() {
        let texts = PhotoTexts(
            creator: ["Anna", "at 48.8584, 2.2945"], rights: "© Anna", title: "48°51'N 2°17'E",
            caption: "By the sea")
        let kept = texts.withoutCoordinates
        #expect(kept.creator == ["Anna"] && kept.rights == "© Anna" && kept.title == nil)
        #expect(kept.caption == "By the sea")
    }
}
