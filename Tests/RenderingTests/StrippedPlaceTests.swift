import Edits
import Foundation
import MinilabTesting
import PhotoFiles
import RenderProtocol
import Testing

@testable import Rendering

/// exiftool searches for places in results from which the place was removed: of every photo and movie of the corpus, and of files that are made
/// to have some everywhere.
@Suite("Results without a place") struct StrippedPlaceTests {
    /// Parts of names of tags that may have a place.
    private static let names = ["gps", "latitude", "longitude", "longtitude", "geo", "location"]

    /// Tags with such names whose values are no place, or one that a person wrote as a word, each with the reason.
    private static let exceptions: [String: String] = [
        "ICC-meas:MeasurementGeometry": "how a colour was measured",
        "ExifIFD:SubjectLocation": "a pixel of the picture",
        "XMP-exif:SubjectLocation": "a pixel of the picture",
        "XMP-iptcCore:Location": "a word: the place within a city",
        "XMP-iptcExt:LocationShownCity": "a word",
        "XMP-iptcExt:LocationShownProvinceState": "a word",
        "XMP-iptcExt:LocationShownCountryName": "a word",
        "XMP-iptcExt:LocationShownCountryCode": "a word",
        "XMP-iptcExt:LocationShownSublocation": "a word",
        "XMP-iptcExt:LocationCreatedCity": "a word",
        "XMP-iptcExt:LocationCreatedCountryCode": "a word",
        "XMP-iptcExt:LocationCreatedCountryName": "a word",
        "XMP-iptcExt:LocationCreatedSublocation": "a word",
        "IPTC:Country-PrimaryLocationName": "a word",
        "IPTC:Country-PrimaryLocationCode": "a word",
        "IPTC:ContentLocationName": "a word", "IPTC:ContentLocationCode": "a word",
    ]

    /// Returns the tags of a file that may have a place.
    private static func places(_ path: String) throws -> [String: String] {
        let json = try Tool.run("exiftool", ["-j", "-a", "-u", "-ee", "-G1", path])
        let tags =
            (try JSONSerialization.jsonObject(with: json) as? [[String: Any]])?.first ?? [:]
        return tags.mapValues { "\($0)" }.filter { name, value in
            guard name != "SourceFile", !name.hasPrefix("System:"), exceptions[name] == nil else {
                return false
            }
            let lower = name.lowercased()
            return names.contains { lower.contains($0) }
                || lower.contains("position") && (value.contains("deg ") || value.contains("°"))
        }
    }

    private static func rendition(_ format: Recipe.Format) -> PhotoRequest.Output {
        .init(
            rendition: Rendition(
                fit: Fit(box: .init(width: 100, height: 100)),
                output: .init(format: format, strip: .gps, colorSpace: .srgb, hdr: .drop)))
    }

    private static let formats: [Recipe.Format] = [.jpeg, .png, .tiff, .webp, .heic]

    /// Renders a photo and its renditions without a place. Returns their paths.
    private static func stripped(
        _ photo: String, in studio: Studio, _ filters: [Filter] = [], stem: String = "out"
    ) throws -> [String] {
        try studio.render(
            photo, Recipe(filters: filters, output: .init(strip: .gps)),
            [.full] + formats.map(rendition), stem: stem)
    }

    // MARK: The corpus

    private static let corpus: [String] = {
        guard let corpus = Studio.corpus else { return [] }
        let folders = ["photos", "cases-4", "video"]
        let kinds = [
            "jpg", "jpeg", "png", "tif", "tiff", "heic", "heif", "avif", "webp", "jxl", "gif",
            "dng",
            "mov", "mp4",
        ]
        let all = folders.flatMap { folder in
            let files = FileManager.default.enumerator(atPath: corpus + "/" + folder)
            return (files?.compactMap { $0 as? String } ?? []).filter { file in
                kinds.contains { file.lowercased().hasSuffix("." + $0) }
            }.map { folder + "/" + $0 }.sorted()
        }
        return Volume.inputs(all, byDay: 24)
    }()

    @Test(.enabled(if: Studio.corpus != nil), arguments: corpus)
    func `have none, of every file of the corpus`(file: String) throws {
        let path = try #require(Studio.corpus) + "/" + file
        let studio = try Studio()
        if file.lowercased().hasSuffix(".mov") || file.lowercased().hasSuffix(".mp4") {
            for filters in [[], [try Filter("CIExposureAdjust", ["ev": 0.1])]] {
                let movie: RenderedMovie
                do { movie = try RenderedMovie(path, filters, Recipe.Output(strip: .gps)) } catch {
                    // A movie that cannot be edited has no result.
                    return
                }
                let result = try studio.write(movie.bytes, as: "out.mov")
                #expect(try Self.places(result) == [:], "\(file)")
            }
            return
        }
        let filters = try file.contains("large_no_samp") ? [] : [Filter("CISepiaTone")]
        let results: [String]
        do { results = try Self.stripped(path, in: studio, filters) } catch is Failure {
            // A photo that is meant to fail has no result; CorpusTests has their list.
            return
        }
        for result in results { #expect(try Self.places(result) == [:], "\(file)") }
    }

    // MARK: Places everywhere

    private static let latitude = "10.1234567", longitude = "20.7654321"

    private static func hasPlace(_ path: String) throws -> Bool {
        let bytes = try Data(contentsOf: URL(filePath: path))
        return [latitude, longitude].contains { text in
            bytes.range(of: Data(text.utf8)) != nil
                || bytes.range(of: Data(text.utf8.flatMap { [$0, 0] })) != nil
        }
    }

    @Test(arguments: [true, false])
    func `have none of a drone's photo, in any lane and format`(isPlain: Bool) throws {
        let studio = try Studio()
        let drone = Repository.fixture("Cases/dji.jpg").path
        #expect(try Self.hasPlace(drone))
        let filters = isPlain ? [] : [try Filter("CIExposureAdjust", ["ev": 0.1])]
        for path in try Self.stripped(drone, in: studio, filters) {
            #expect(try !Self.hasPlace(path), "\(path)")
            #expect(try Self.places(path) == [:], "\(path)")
        }
    }

    /// Options of exiftool that write coordinates.
    private static let everywhere: [[String]] = [
        ["-XMP-exif:GPSLatitude=10.1234567"],
        ["-XMP-iptcExt:LocationShown={City=Ulm,GPSLatitude=10.1234567,GPSLongitude=20.7654321}"],
        ["-EXIF:UserComment=at 10.1234567, 20.7654321"],
        ["-EXIF:ImageDescription=10.1234567 N 20.7654321 E"],
        ["-EXIF:XPComment=10.1234567, 20.7654321"],
        ["-XMP-dc:Description=10.1234567, 20.7654321"],
        ["-XMP-dc:Subject=geo:lat=10.1234567", "-XMP-dc:Subject=horse"],
        ["-IPTC:Caption-Abstract=10.1234567, 20.7654321", "-IPTC:City=Ulm"],
        ["-IPTC:Keywords=geo:lon=20.7654321", "-IPTC:Keywords=horse"],
        ["-Comment=10.1234567, 20.7654321"],
        ["-MakerNotes:all=", "-XMP-mwg-rs:RegionName=10.1234567, 20.7654321"],
    ]

    @Test(arguments: everywhere)
    func `have none that stood in a text, and keep the rest`(options: [String]) throws {
        let studio = try Studio()
        let photo = studio.path("in.jpg")
        try Data(contentsOf: URL(filePath: Repository.fixture("Cases/edge.png").path)).write(
            to: URL(filePath: studio.path("edge.png")))
        let plain = try studio.render(studio.path("edge.png"), [], format: .jpeg, stem: "plain")
        try FileManager.default.copyItem(
            atPath: studio.path(plain.output.name), toPath: photo)
        _ = try Tool.run(
            "exiftool", ["-q", "-overwrite_original", "-struct"] + options + [photo])
        let before = try Tool.run("exiftool", ["-a", "-s", "-n", photo])
        #expect(
            String(decoding: before, as: UTF8.self).contains(Self.latitude.prefix(7))
                || String(decoding: before, as: UTF8.self).contains(Self.longitude.prefix(7)))
        for path in try Self.stripped(photo, in: studio) {
            #expect(try !Self.hasPlace(path), "\(options) \(path)")
            #expect(try Self.places(path) == [:], "\(options) \(path)")
        }
        let tags = try Exiftool.tags(of: studio.path("out-0"), "-G1")
        for kept in ["City", "horse"] where "\(options)".contains(kept) {
            #expect("\(tags)".contains(kept), "\(options): \(tags)")
        }
    }

    @Test func `have no note of a maker whose fields may be places, and Apple's and Canon's`()
        throws
    {
        for (make, stays) in [("Canon", true), ("Panasonic", false), ("Nobody", false)] {
            let exif = Self.exif(make: make, note: Array("0.0.0.0.NOTE-OF-THE-MAKER".utf8))
            var facts = PictureFacts(size: PixelSize(width: 8, height: 8))
            #expect(Self.hasNote(try #require(Exif.revised(exif, to: facts))))
            facts.removesLocation = true
            #expect(Self.hasNote(try #require(Exif.revised(exif, to: facts))) == stays, "\(make)")
        }
    }

    private static func hasNote(_ exif: [UInt8]) -> Bool {
        Data(exif).range(of: Data("NOTE-OF-THE-MAKER".utf8)) != nil
    }

    static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// EXIF with a maker and a note.
    private static func exif(make: String, note: [UInt8]) -> [UInt8] {
        exif(main: [(0x010F, 2, Array(make.utf8) + [0])], exif: [(0x927C, 7, note)])
    }

    /// An entry of a type whose values are bytes.
    private typealias Entry = (tag: Int, type: Int, value: [UInt8])

    private static func exif(main: [Entry], exif: [Entry] = []) -> [UInt8] {
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            little(tag, 2) + little(type, 2) + little(count, 4) + value
        }
        let exifAt = 8 + 2 + 12 * (main.count + 1) + 4
        let valuesAt = exifAt + 2 + 12 * exif.count + 4
        var values: [UInt8] = []
        func entries(_ list: [Entry]) -> [UInt8] {
            list.flatMap { item -> [UInt8] in
                let (tag, type, value) = item
                guard value.count > 4 else {
                    let room = [UInt8](repeating: 0, count: 4 - value.count)
                    return entry(tag, type, value.count, value + room)
                }
                defer { values += value }
                return entry(tag, type, value.count, little(valuesAt + values.count, 4))
            }
        }
        var result: [UInt8] = Array("II*\0".utf8) + little(8, 4) + little(main.count + 1, 2)
        result += entries(main) + entry(0x8769, 4, 1, little(exifAt, 4)) + little(0, 4)
        result += little(exif.count, 2) + entries(exif) + little(0, 4)
        return result + values
    }

    // MARK: Encodings

    private static let degrees = "10°07'24.4\"N 20°45'55.5\"E"
    static let decimals = "10.1234567, 20.7654321"
    private static let latin: [UInt8] = degrees.unicodeScalars.map { UInt8($0.value) }
    private static let roman: [UInt8] = degrees.unicodeScalars.map {
        $0 == "°" ? 0xA1 : UInt8($0.value)
    }
    private static let wide: [UInt8] = degrees.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    private static let texts: [[UInt8]] = [
        latin, roman, wide, Array(degrees.utf8), Array(decimals.utf8),
        Array("UNICODE\0".utf8) + wide,
        Array("ASCII\0\0\0".utf8) + Array(decimals.utf8),
    ]

    /// Whether what is ASCII in the texts is left in some bytes.
    static func tells(_ bytes: [UInt8]) -> Bool {
        let data = Data(bytes.filter { $0 != 0 })
        return ["24.4\"N", "45'55.5", latitude, longitude].contains {
            data.range(of: Data($0.utf8)) != nil
        }
    }

    @Test(arguments: [1, 2, 6, 7, 129])
    func `have none in EXIF, whatever type and encoding a text has there`(type: Int) throws {
        var facts = PictureFacts(size: PixelSize(width: 8, height: 8))
        let mains = [0x010D, 0x010E, 0x0110, 0x0131, 0x013B, 0x8298, 0x9C9B, 0x9C9C, 0x9C9E]
        let further = [0x9286, 0xA004, 0xA420, 0xA430, 0xA433, 0xA436, 0x9290]
        for text in Self.texts {
            for (tag, isMain) in mains.map({ ($0, true) }) + further.map({ ($0, false) }) {
                let entry: [Entry] = [(tag, type, text)]
                let kept: Entry = (0xA431, 2, Array("A12-3456\0".utf8))
                let exif = Self.exif(
                    main: isMain ? entry : [], exif: (isMain ? [] : entry) + [kept])
                facts.removesLocation = false
                #expect(Self.tells(try #require(Exif.revised(exif, to: facts))))
                facts.removesLocation = true
                let result = try #require(Exif.revised(exif, to: facts))
                #expect(!Self.tells(result), "\(tag)")
                #expect(Data(result).range(of: Data("A12-3456".utf8)) != nil, "\(tag)")
            }
        }
    }

    @Test
    func `have none in a text of a note, and EXIF whose values overlap has no more than fits`()
        throws
    {
        var facts = PictureFacts(size: PixelSize(width: 8, height: 8))
        facts.removesLocation = true
        let note = Array("0.0.0.0.owner \(Self.decimals)".utf8)
        let exif = Self.exif(make: "Canon", note: note)
        #expect(!Self.tells(try #require(Exif.revised(exif, to: facts))))
        // 4,000 texts that all are the same 60,000 bytes.
        let count = 4_000
        let entry: [UInt8] =
            Self.little(0x010E, 2) + Self.little(2, 2) + Self.little(60_000, 4)
            + Self.little(8 + 2 + 12 * count + 4, 4)
        let entries = (0..<count).flatMap { _ in entry }
        var hostile: [UInt8] = Array("II*\0".utf8) + Self.little(8, 4) + Self.little(count, 2)
        hostile += entries + Self.little(0, 4) + [UInt8](repeating: 0x31, count: 60_000)
        let time = try ContinuousClock().measure {
            _ = try #require(Exif.revised(hostile, to: facts))
        }
        #expect(time < .seconds(20))
    }

    @Test func `have none in IPTC, whatever encoding it has, nor in two keywords together`() throws
    {
        func set(_ number: UInt8, _ text: [UInt8]) -> [UInt8] {
            [0x1C, 2, number, UInt8(text.count >> 8), UInt8(text.count & 0xFF)] + text
        }
        let utf8: [UInt8] = [0x1C, 1, 90, 0, 3, 0x1B, 0x25, 0x47]
        for head in [[], utf8] {
            for text in Self.texts {
                let kept = set(90, Array("Ulm".utf8)) + set(25, Array("horse".utf8))
                let iptc = IPTC(records: head + kept + set(120, text) + set(25, text))
                #expect(iptc.withoutCoordinates.records == head + kept)
            }
        }
        let keywords = ["10.1234567", "horse", "20.7654321"].map { set(25, Array($0.utf8)) }
        #expect(
            IPTC(records: Array(keywords.joined())).withoutCoordinates.records == keywords[1])
    }

    /// Contents of `rdf:Description`, all of which have a place.
    private static let packets = [
        alternatives("10.1234<!-- -->567, 20.7654<!-- -->321"),
        alternatives("10.<![CDATA[1234567, 20.76]]>54321"),
        alternatives("<![CDATA[10.1234567]]>, 20.7654321"),
        alternatives("x<?p 10.1234567, 20.7654321?>"),
        alternatives("10.1234567</rdf:li><rdf:li xml:lang=\"fr\">20.7654321"),
        "<dc:title>10.1234567, <rdf:Alt><rdf:li>x</rdf:li></rdf:Alt>20.7654321</dc:title>",
        "10.1234567, 20.7654321<dc:title/>", "<?p 10.1234567, 20.7654321?><!--10.1234567-->",
        "<crs:RawFileName>10.1234567, 20.7654321</crs:RawFileName>",
        "<crs:Title><rdf:Alt><rdf:li>10.1234567, 20.7654321</rdf:li></rdf:Alt></crs:Title>",
        "<rdf:Description dc:source=\"10.1234<!-- -->567, 20.7654<!-- -->321\"/>",
        "<dc:subject><rdf:Bag><rdf:li>10.1234567</rdf:li><rdf:li>horse</rdf:li><rdf:li>20.7654321</rdf:li></rdf:Bag></dc:subject>",
        "<dc:date><rdf:Seq><rdf:li>2026-11-28 10.1234567</rdf:li><rdf:li>20.7654321</rdf:li></rdf:Seq></dc:date>",
        "<dc:relation><rdf:Seq><rdf:li>10.1234567</rdf:li><rdf:li>20.7654321</rdf:li><rdf:li>35.25</rdf:li></rdf:Seq></dc:relation>",
        "<crs:Spot><rdf:Seq><rdf:li>10.1234567</rdf:li><rdf:li>20.7654321</rdf:li></rdf:Seq></crs:Spot>",
        "<dc:source>2026-11-28 12:30:05 10.1234567 20.7654321</dc:source>",
        "<dc:source>10.1234567,20.7654321;10.1234568,20.7654322;10.1234569,20.7654323</dc:source>",
        "<dc:at10.1234567_20.7654321>x</dc:at10.1234567_20.7654321>",
        "<rdf:Description dc:at10.1234567_20.7654321=\"x\"/>",
        "<rdf:Description xmlns:spot=\"geo:10.1234567,20.7654321\"/>",
        "<dc:lat>10.1234567</dc:lat><dc:lon>20.7654321</dc:lon>",
        "<dc:source>https://maps.app.goo.gl/Ab1234567</dc:source>",
        "<dc:source>https%3A%2F%2Fwww.google.com%2Fmaps%2Fplace%2FUlm%2Fdata%3D1234567</dc:source>",
        "<dc:source>https://www.openstreetmap.org/?mlat=10.1234567&amp;mlon=20.7654321</dc:source>",
    ]

    private static func alternatives(_ text: String) -> String {
        "<dc:description><rdf:Alt><rdf:li xml:lang=\"x-default\">\(text)</rdf:li></rdf:Alt></dc:description>"
    }

    /// Properties with numbers that are none.
    private static let points = """
        <rdf:Description crs:ReferencePoint="0.502304 0.496528" crs:Table_1="N1.2345 deg" crs:Exposure2012="+1.25"/>\
        <crs:Dabs><rdf:Seq><rdf:li>d 0.523456 0.612345</rdf:li><rdf:li>r 0.041234</rdf:li></rdf:Seq></crs:Dabs>\
        <hdrgm:GainMapMax><rdf:Seq><rdf:li>2.345678</rdf:li><rdf:li>3.456789</rdf:li></rdf:Seq></hdrgm:GainMapMax>\
        <dc:title><rdf:Alt><rdf:li xml:lang="x-default">A &amp; <![CDATA[<B>]]></rdf:li></rdf:Alt></dc:title>
        """

    @Test(arguments: packets)
    func `have none in XMP, as readers see its texts`(content: String) throws {
        func packet(_ content: String) -> [UInt8] {
            let spaces = [
                "dc": "http://purl.org/dc/elements/1.1/",
                "crs": "http://ns.adobe.com/camera-raw-settings/1.0/",
                "hdrgm": "http://ns.adobe.com/hdr-gain-map/1.0/",
            ].map { " xmlns:\($0)=\"\($1)\"" }.sorted().joined()
            return XMP.packet(of: "<rdf:Description\(spaces)>\(content)</rdf:Description>")
        }
        var facts = PictureFacts(size: PixelSize(width: 8, height: 8))
        facts.removesLocation = true
        let bytes = XMP.revised(packet(content), to: facts) ?? []
        let result = String(decoding: bytes, as: UTF8.self)
        for part in ["1234", "567", "7654", "321"] { #expect(!result.contains(part), "\(result)") }
        #expect(result.contains("horse") == content.contains("horse"))
        let kept = String(
            decoding: try #require(XMP.revised(packet(Self.points), to: facts)), as: UTF8.self)
        #expect(kept.contains(Self.points), "\(kept)")
    }

    @Test func `keep what stands behind the beginning of a comment that is none`() throws {
        let title =
            "<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">T</rdf:li></rdf:Alt></dc:title>"
        var facts = PictureFacts(size: PixelSize(width: 8, height: 8))
        facts.removesLocation = true
        for source in ["<![CDATA[a <!-- b]]>", "a<?a <!-- ?>", "a<!-- <![CDATA[ -->"] {
            let packet = XMP.packet(
                of: """
                    <rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/">\
                    <dc:source>\(source)</dc:source>\(title)</rdf:Description>
                    """)
            let bytes = try #require(XMP.revised(packet, to: facts))
            let result = String(decoding: bytes, as: UTF8.self)
            #expect(result.contains(title + "</rdf:Description></rdf:RDF></x:xmpmeta>"))
            #expect(result.contains("<dc:source>") && !result.contains("<?a"), "\(result)")
        }
    }

    @Test func `have none in comments and texts, in any lane and format`() throws {
        let studio = try Studio()
        let plain = try studio.render(
            Repository.fixture("Cases/edge.png").path, [], format: .jpeg, stem: "plain")
        let base = Array(
            try Data(contentsOf: URL(filePath: studio.path(plain.output.name))))
        func segment(_ code: UInt8, _ content: [UInt8]) -> [UInt8] {
            let count = content.count + 2
            return [0xFF, code, UInt8(count >> 8), UInt8(count & 0xFF)] + content
        }
        let exif = Self.exif(
            main: [(0x010E, 7, Self.latin), (0x013B, 2, Self.latin + [0]), (0x9C9C, 1, Self.wide)],
            exif: [(0x9286, 7, Array("UNICODE\0".utf8) + Self.wide)])
        let segments =
            segment(0xE1, Array("Exif\0\0".utf8) + exif)
            + [Self.latin, Self.roman, [0xFF, 0xFE] + Self.wide, Array(Self.decimals.utf8)]
            .flatMap { segment(0xFE, $0) }
        let photo = try studio.write(
            Array(base[..<2]) + segments + base[2...], as: "in.jpg")
        #expect(Self.tells(Array(try Data(contentsOf: URL(filePath: photo)))))
        for filters in [[], [try Filter("CIExposureAdjust", ["ev": 0.1])]] {
            for path in try Self.stripped(photo, in: studio, filters) {
                let result = Array(try Data(contentsOf: URL(filePath: path)))
                #expect(!Self.tells(result), "\(path)")
            }
        }
    }

    @Test func `have none in the rights that stay where all else goes`() throws {
        for (rights, stays) in [("© Anna", true), ("© Anna, at " + Self.decimals, false)] {
            let packet = XMP.packet(
                of: """
                    <rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/">\
                    <dc:creator><rdf:Seq><rdf:li>Ada</rdf:li><rdf:li>\(Self.decimals)</rdf:li></rdf:Seq></dc:creator>\
                    <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">\(rights)</rdf:li></rdf:Alt></dc:rights>\
                    </rdf:Description>
                    """)
            let result = PhotoMetadata(xmp: packet).result(
                PictureFacts(size: PixelSize(width: 8, height: 8)),
                as: Recipe.Output(format: .jpeg, strip: .all, keepsRights: true))
            let written = try #require(result.xmp)
            let text = String(decoding: written, as: UTF8.self)
            #expect(!Self.tells(written) && text.contains("Ada"), "\(text)")
            #expect(text.contains("© Anna") == stays)
        }
    }
}
