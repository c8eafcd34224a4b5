import Edits
import Foundation
import MinilabTesting
import Testing

@testable import PhotoFiles

/// exiftool judges what is written; `Tests/RenderingTests/MetadataWritingTests.swift` has whole photos.
@Suite("Metadata that are written") struct MetadataWritingTests {
    private static let size = PixelSize(width: 4, height: 3)

    private static func changes(_ json: String) throws -> MetadataChanges {
        try #require(
            try Recipe(json: #"{"filters":[],"output":{"metadata":\#(json)}}"#).output.metadata)
    }

    // MARK: XMP

    private static func packet(_ inner: String) -> [UInt8] {
        Array(
            (#"<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">"#
                + inner + "</rdf:RDF></x:xmpmeta>").utf8)
    }

    private static func texts(_ bytes: [UInt8]?) throws -> XMPWriter {
        try #require(bytes.flatMap { XMPWriter($0) })
    }

    @Test func `a value is written in its place, and nothing else of the packet changes`() throws {
        let packet = Self.packet(
            """
            <!-- kept --><rdf:Description rdf:about='' xmlns:dc="http://purl.org/dc/elements/1.1/" \
            xmlns:xmp="http://ns.adobe.com/xap/1.0/"  xmp:Rating='2' xmp:Label="A&amp;B"><dc:title>\
            <rdf:Alt><rdf:li xml:lang="x-default">Old</rdf:li><rdf:li xml:lang="de">Alt</rdf:li></rdf:Alt></dc:title>
              <dc:format>image/jpeg</dc:format></rdf:Description>
            """)
        let (written, isReplaced) = XMP.written(
            try Self.changes(#"{"title":"A < B & \"C\" 'D'","rating":5}"#), to: packet)
        let expected = String(decoding: packet, as: UTF8.self)
            .replacing("xmp:Rating='2'", with: "xmp:Rating='5'")
            .replacing(
                #"Old</rdf:li><rdf:li xml:lang="de">Alt"#,
                with: "A &lt; B &amp; &quot;C&quot; &apos;D&apos;")
        #expect(String(decoding: try #require(written), as: UTF8.self) == expected)
        #expect(!isReplaced)
        #expect(try Self.texts(written).text("dc:title") == #"A < B & "C" 'D'"#)
    }

    @Test func `values that are missing get a description about the same thing`() throws {
        let packet = Self.packet(
            #"<r:Description xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" r:about="uuid:1"/>"#
        )
        let (written, _) = XMP.written(
            try Self.changes(#"{"creator":["A","B"],"caption":"1\n2"}"#), to: packet)
        let text = String(decoding: try #require(written), as: UTF8.self)
        #expect(text.contains(#"<rdf:Description rdf:about="uuid:1" xmlns:dc="#))
        #expect(text.contains("1&#xA;2"))
        #expect(try Self.texts(written).texts("dc:creator") == ["A", "B"])
        #expect(try Self.texts(written).text("dc:description") == "1\n2")
    }

    @Test func `a value is removed from every place, and only from those of the photo`() throws {
        let packet = Self.packet(
            """
            <rdf:Description rdf:about="" xmlns:p="http://ns.adobe.com/photoshop/1.0/" p:City="Köln" p:Credit="C">\
            <p:City>Bonn</p:City><p:History rdf:parseType="Resource"><p:City>Ulm</p:City></p:History></rdf:Description>
            """)
        let (written, _) = XMP.written(try Self.changes(#"{"city":null}"#), to: packet)
        let text = String(decoding: try #require(written), as: UTF8.self)
        #expect(!text.contains("Köln") && !text.contains("Bonn"))
        #expect(text.contains("Ulm") && text.contains(#"p:Credit="C""#))
    }

    @Test(
        arguments: [
            #"<E:LocationShown><rdf:Bag><rdf:li rdf:parseType="Resource"><E:City>Bonn</E:City><E:Sublocation>S</E:Sublocation></rdf:li></rdf:Bag></E:LocationShown>"#,
            #"<E:LocationShown><rdf:Bag><rdf:li E:City="Bonn" E:Sublocation="S"/></rdf:Bag></E:LocationShown>"#,
            #"<E:LocationShown><rdf:Bag><rdf:li><rdf:Description E:City="Bonn"><E:Sublocation>S</E:Sublocation></rdf:Description></rdf:li></rdf:Bag></E:LocationShown>"#,
            #"<E:LocationShown><rdf:Bag><rdf:li><rdf:Description E:City="Bonn" E:Sublocation="S"/></rdf:li></rdf:Bag></E:LocationShown>"#,
        ])
    func `the fields of a place are written in each form`(form: String) throws {
        let packet = Self.packet(
            #"<rdf:Description rdf:about="" xmlns:E="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">\#(form)</rdf:Description>"#
        )
        let (written, _) = XMP.written(
            try Self.changes(#"{"city":"Köln","country":"D"}"#), to: packet)
        let tags = try Self.exiftool(xmp: try #require(written))
        #expect(tags["LocationShownCity"] == "Köln" && tags["LocationShownCountryName"] == "D")
        #expect(tags["LocationShownSublocation"] == "S" && tags["City"] == "Köln")
        #expect(tags["Warning"] == nil, "\(tags["Warning"] ?? "")")
    }

    /// What exiftool reads of a packet.
    private static func exiftool(xmp: [UInt8]) throws -> [String: String] {
        let path = NSTemporaryDirectory() + "/minilab-\(UUID().uuidString).xmp"
        defer { try? FileManager.default.removeItem(atPath: path) }  // it may stay
        try Data(xmp).write(to: URL(filePath: path))
        let json =
            try Tool.run("exiftool", ["-j", "-a", "-validate", "-warning", path])
            + Data()
        let other = try Tool.run("exiftool", ["-j", path])
        let lists = try [json, other].map {
            try JSONSerialization.jsonObject(with: $0) as? [[String: Any]] ?? []
        }
        return (lists[1].first ?? [:]).merging(lists[0].first ?? [:]) { $1 }
            .mapValues { "\($0)" }
    }

    @Test func `a packet that cannot be read is replaced`() throws {
        let changes = try Self.changes(#"{"title":"T"}"#)
        for broken in [[0xFF], Array("<x:xmpmeta>".utf8), Self.packet("<a>")] as [[UInt8]] {
            let (written, isReplaced) = XMP.written(changes, to: broken)
            #expect(isReplaced)
            #expect(try Self.texts(written).text("dc:title") == "T")
        }
        #expect(XMP.written(try Self.changes(#"{"title":null}"#), to: [0xFF]) == (nil, true))
        #expect(XMP.written(try Self.changes(#"{"title":null}"#), to: nil) == (nil, false))
    }

    // MARK: EXIF

    private static func fixture() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Repository.fixture("IMG_1064.exif")))
    }

    @Test func `EXIF grows at its end, and a MakerNote stays where it is`() throws {
        let old = try Self.fixture()
        let changes = try Self.changes(
            #"{"creator":["Anna Müller","B; C"],"rights":"©","caption":"佐藤","date":"2020-02-03T04:05:06.78-03:30"}"#
        )
        let new = try #require(Exif.written(changes, to: old, size: Self.size))
        let tags = try Self.exiftool(exif: new)
        let before = try Self.exiftool(exif: old)
        #expect(tags["IFD0:Artist"] == #"Anna Müller; "B; C""# && tags["IFD0:Copyright"] == "©")
        #expect(tags["IFD0:ImageDescription"] == "佐藤")
        #expect(tags["ExifIFD:DateTimeOriginal"] == "2020:02:03 04:05:06")
        #expect(tags["ExifIFD:OffsetTimeOriginal"] == "-03:30")
        #expect(tags["ExifIFD:SubSecTimeOriginal"] == "78")
        #expect(tags["ExifIFD:ExifVersion"] == "0231" && before["ExifIFD:ExifVersion"] == "0221")
        #expect(tags["ExifTool:Warning"] == before["ExifTool:Warning"])
        let written = [
            "Artist", "Copyright", "ImageDescription", "DateTimeOriginal", "OffsetTimeOriginal",
            "SubSecTimeOriginal", "ExifVersion", "Validate",
        ]
        func others(_ tags: [String: String]) -> [String: String] {
            tags.filter { name, _ in
                !written.contains { name.hasSuffix(":" + $0) } && !name.hasPrefix("System:")
                    && !name.hasPrefix("Composite:") && name != "SourceFile"
            }
        }
        #expect(others(tags) == others(before))
        #expect(before.keys.contains { $0.hasPrefix("Apple:") })

        // The same values again change nothing, and shorter ones need no room.
        #expect(Exif.written(changes, to: new, size: Self.size) == new)
        let shorter = try #require(
            Exif.written(try Self.changes(#"{"creator":["Anna"]}"#), to: new, size: Self.size))
        #expect(shorter.count == new.count && Exif.texts(shorter).creator == ["Anna"])
        #expect(Exif.texts(new).creator == ["Anna Müller", "B; C"])
        #expect(Exif.texts(new).date == PhotoDate(2020, 2, 3, hour: 4, minute: 5))

        let none = try #require(
            Exif.written(
                try Self.changes(
                    #"{"creator":null,"rights":null,"caption":null,"date":null}"#), to: new,
                size: Self.size))
        let rest = try Self.exiftool(exif: none)
        #expect(
            !rest.keys.contains { name in written.prefix(6).contains { name.hasSuffix(":" + $0) } })
        #expect(!none.contains(Array("Müller".utf8)), "the old name is in the file")
        #expect(others(rest) == others(before))
    }

    @Test func `the editor's part of a copyright stays`() throws {
        func copyright(_ exif: [UInt8]) -> String? {
            guard let tiff = TIFFBytes(Exif.withoutPrefix(exif)) else { return nil }
            return tiff.directory(at: tiff.firstDirectory)?[0x8298].flatMap(tiff.ascii).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        var directories = ExifDirectories(newInOrder: true)
        let value = Array("Photographer\0Editor\0".utf8)
        directories.main = [.init(tag: 0x8298, type: 2, count: value.count, value: value)]
        let old = directories.standalone()
        let new = try #require(
            Exif.written(try Self.changes(#"{"rights":"P"}"#), to: old, size: Self.size))
        #expect(copyright(new) == "P\0Editor\0")
        let none = try #require(
            Exif.written(try Self.changes(#"{"rights":null}"#), to: old, size: Self.size))
        #expect(copyright(none) == " \0Editor\0" && Exif.texts(none).rights == nil)
    }

    @Test func `EXIF is made where there is none, and left out where it has no room`() throws {
        let changes = try Self.changes(#"{"creator":["A"],"date":"2020-02-03T04:05:06Z"}"#)
        let new = try #require(Exif.written(changes, to: nil, size: Self.size))
        let tags = try Self.exiftool(exif: new)
        #expect(tags["IFD0:Artist"] == "A" && tags["ExifIFD:OffsetTimeOriginal"] == "+00:00")
        #expect(tags["ExifIFD:ExifImageWidth"] == "4" && tags["ExifIFD:ExifVersion"] == "0232")
        #expect(Exif.written(try Self.changes(#"{"title":"T"}"#), to: nil, size: Self.size) == nil)
        #expect(
            Exif.written(try Self.changes(#"{"creator":null}"#), to: nil, size: Self.size) == nil)
        let old = try #require(
            Exif.written(try Self.changes(#"{"creator":["Old"]}"#), to: nil, size: Self.size))
        let long = String(repeating: "x", count: 2_000)
        let full = try #require(
            Exif.written(
                try Self.changes(#"{"creator":["\#(long)"]}"#), to: old, size: Self.size,
                bytesMax: 500))
        #expect(full.count <= 500 && Exif.texts(full).creator.isEmpty)
    }

    /// EXIF in a JPEG of no pixels, for exiftool.
    private static func exiftool(exif: [UInt8]) throws -> [String: String] {
        let path = NSTemporaryDirectory() + "/minilab-\(UUID().uuidString).jpg"
        defer { try? FileManager.default.removeItem(atPath: path) }  // it may stay
        let content = Exif.prefix + Exif.withoutPrefix(exif)
        try Data([0xFF, 0xD8] + UltraHDR.bytes(0xE1, content) + [0xFF, 0xD9]).write(
            to: URL(filePath: path))
        let json = try Tool.run("exiftool", ["-j", "-a", "-G1", "-n", "-validate", "-all", path])
        let list = try JSONSerialization.jsonObject(with: json) as? [[String: Any]] ?? []
        return (list.first ?? [:]).mapValues { "\($0)" }
    }

    // MARK: IIM

    private static func set(_ number: UInt8, _ value: [UInt8], record: UInt8 = 2) -> [UInt8] {
        [0x1C, record, number, UInt8(value.count >> 8), UInt8(value.count & 255)] + value
    }

    @Test func `records in Latin-1 become UTF-8 with their declaration and a new digest`() throws {
        let keyword = Self.set(25, Array("Hochzeit in K".utf8) + [0xF6] + Array("ln".utf8))
        let old = IPTC(
            records: Self.set(0, [0, 4]) + keyword + Self.set(80, Array("Old".utf8))
                + Self.set(80, Array("Older".utf8)) + Self.set(116, Array("R".utf8)))
        let (new, cuts) = old.written(try Self.changes(#"{"creator":["佐藤","Anna"]}"#))
        let expected =
            Self.set(0, [0, 4], record: 1) + Self.set(90, [0x1B, 0x25, 0x47], record: 1)
            + Self.set(0, [0, 4]) + Self.set(25, Array("Hochzeit in Köln".utf8))
            + Self.set(80, Array("佐藤".utf8)) + Self.set(80, Array("Anna".utf8))
            + Self.set(116, Array("R".utf8))
        #expect(new.records == expected && cuts.isEmpty)
        #expect(new.digest == MD5.hash(data: expected))
        #expect(IPTC(new.photoshopBlock) == new)
        // What is UTF-8 already, though undeclared, is not converted twice.
        let utf8 = IPTC(records: Self.set(25, Array("Köln".utf8)))
        #expect(utf8.written(try Self.changes(#"{"title":"T"}"#)).iptc.texts.title == "T")
        #expect(
            utf8.written(try Self.changes(#"{"title":"T"}"#)).iptc.records.contains(
                Array("Köln".utf8)))
    }

    @Test func `values are cut at whole characters, and the cut is told`() throws {
        let name = String(repeating: "ä", count: 40)
        var metadata = PhotoMetadata(iptc: IPTC(records: Self.set(80, [0x41])))
        let notes = metadata.write(
            try Self.changes(#"{"creator":["\#(name)"],"title":"T"}"#), size: Self.size)
        #expect(metadata.iptc?.texts.creator == [String(repeating: "ä", count: 16)])
        #expect(notes.count == 1 && notes[0].contains("metadata.creator is cut to 32 bytes"))
        #expect(IPTC.cut("ab👩‍👩‍👧‍👦", to: 10) == Array("ab".utf8))
        #expect(metadata.texts.creator == [name], "EXIF has all of it")
    }

    @Test func `IIM is written only where it is, and XMP says what a newer IIM said`() throws {
        var bare = PhotoMetadata()
        _ = bare.write(try Self.changes(#"{"title":"T","city":"C"}"#), size: Self.size)
        #expect(bare.iptc == nil && bare.exif == nil && bare.texts.title == "T")

        let records = Self.set(5, Array("Newer".utf8)) + Self.set(90, Array("Köln".utf8))
        let xmp = XMP.written(try Self.changes(#"{"title":"Older","city":"Bonn"}"#), to: nil)
        let digest = [UInt8](repeating: 1, count: 16)
        var metadata = PhotoMetadata(
            xmp: xmp.packet, iptc: IPTC(records: records, digest: digest))
        #expect(metadata.texts.title == "Newer")
        _ = metadata.write(try Self.changes(#"{"usageTerms":"U"}"#), size: Self.size)
        #expect(metadata.iptc == IPTC(records: records, digest: digest), "nothing of it is asked")
        _ = metadata.write(try Self.changes(#"{"headline":"H"}"#), size: Self.size)
        #expect(metadata.texts.title == "Newer" && metadata.iptc?.isNewerThanXMP == false)
        let packet = try Self.texts(metadata.xmp)
        #expect(packet.text("photoshop:City") == "Köln" && packet.text("dc:title") == "Newer")
    }

    @Test func `a date is written with its zone`() throws {
        let old = IPTC(records: Self.set(55, Array("20200101".utf8)))
        let (new, _) = old.written(try Self.changes(#"{"date":"2026-11-25T14:03:00.5+01:00"}"#))
        let records = IPTCRecords(new.records)
        #expect(records.values(55) == ["20261125"] && records.values(60) == ["140300+0100"])
        #expect(new.texts.date == PhotoDate(2026, 11, 25, hour: 14, minute: 3))
    }

    @Test func `EXIF precedes XMP when a photo is read`() throws {
        var metadata = PhotoMetadata()
        _ = metadata.write(
            try Self.changes(#"{"creator":["X"],"rights":"X","caption":"X","title":"T"}"#),
            size: Self.size)
        metadata.exif = Exif.written(
            try Self.changes(#"{"creator":["E"]}"#), to: metadata.exif, size: Self.size)
        #expect(metadata.texts.creator == ["E"] && metadata.texts.rights == "X")
        metadata.exif = nil
        #expect(metadata.texts.creator == ["X"])
        #expect(!metadata.texts.tellsChange)
        #expect(metadata.rights.values.count == 2)
    }
}

extension Collection<UInt8> {
    fileprivate func contains(_ bytes: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: bytes) }
    }
}
