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
        "48 degrees 51' N",
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
        "Flat 48.25", "plate 12.34", "5'11\" tall",
    ])
    func `are not seen where there are none`(text: String) {
        #expect(!CoordinateText.isIn(text))
        #expect(!CoordinateText.isIn(text.utf8), "as bytes")
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
        (["0.125", "1.250"], []),
    ])
    func `of a list those go that have some together`(list: [String], places: [Int]) {
        #expect(CoordinateText.places(in: list.map { Array($0.utf8) }) == Set(places))
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            "1", "1.", "1°", "1° ", " ", "1 ", "N", "+", "22222222+", "%25", "&#1;", "\\u0031",
            "1,",
            "1°1 1 ", "lat", "１", "\u{FFFD}", "1.1\",\"", "1' ", "&amp;amp;", "12:12:",
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
