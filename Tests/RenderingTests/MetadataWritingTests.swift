import Codecs
import Edits
import Files
import Foundation
import MinilabTesting
import PhotoFiles
import RenderProtocol
import Testing

@testable import Rendering

/// exiftool judges what is written into photos: what was asked for is there, and nothing else is different.
@Suite("Metadata written into photos") struct WrittenMetadataTests {
    private static let asked = #"""
        {"creator":["Anna Müller","佐藤 健"],"rights":"© 2026 Müller","caption":"Zwei\nZeilen","title":"Ein Titel & mehr",
        "headline":"Kopf","keywords":["a","ß"],"rating":3,"credit":"Agentur","source":"Quelle","city":"Köln","state":"NRW",
        "country":"Deutschland","usageTerms":"Nutzung","webStatement":"https://example.org/w","licensorURL":"https://example.org/l",
        "contact":{"email":"a@example.org","phone":"+49 1"},"date":"2025-06-07T08:09:10+02:00"}
        """#
    private static let expected = [
        "XMP-dc:Rights": "© 2026 Müller", "XMP-dc:Description": "Zwei\nZeilen",
        "XMP-dc:Title": "Ein Titel & mehr", "XMP-photoshop:Headline": "Kopf",
        "XMP-xmp:Rating": "3", "XMP-photoshop:Credit": "Agentur",
        "XMP-photoshop:Source": "Quelle", "XMP-photoshop:City": "Köln",
        "XMP-photoshop:State": "NRW", "XMP-photoshop:Country": "Deutschland",
        "XMP-iptcExt:LocationShownCity": "Köln",
        "XMP-iptcExt:LocationShownProvinceState": "NRW",
        "XMP-iptcExt:LocationShownCountryName": "Deutschland",
        "XMP-xmpRights:UsageTerms": "Nutzung", "XMP-xmpRights:Marked": "1",
        "XMP-xmpRights:WebStatement": "https://example.org/w",
        "XMP-plus:LicensorURL": "https://example.org/l",
        "XMP-iptcCore:CreatorWorkEmail": "a@example.org",
        "XMP-iptcCore:CreatorWorkTelephone": "+49 1",
        "XMP-photoshop:DateCreated": "2025:06:07 08:09:10+02:00",
        "XMP-exif:DateTimeOriginal": "2025:06:07 08:09:10+02:00",
        "IFD0:Artist": "Anna Müller; 佐藤 健", "IFD0:Copyright": "© 2026 Müller",
        "IFD0:ImageDescription": "Zwei\nZeilen",
        "ExifIFD:DateTimeOriginal": "2025:06:07 08:09:10",
        "ExifIFD:OffsetTimeOriginal": "+02:00",
    ]
    private static let ofIPTC = [
        "IPTC:CopyrightNotice": "© 2026 Müller", "IPTC:ObjectName": "Ein Titel & mehr",
        "IPTC:Headline": "Kopf", "IPTC:City": "Köln", "IPTC:Province-State": "NRW",
        "IPTC:Country-PrimaryLocationName": "Deutschland", "IPTC:Credit": "Agentur",
        "IPTC:Source": "Quelle", "IPTC:DateCreated": "2025:06:07",
        "IPTC:TimeCreated": "08:09:10+02:00",
    ]
    /// Tags that a new structure must state, and that a photo without it lacks.
    private static let made: Set = [
        "ExifIFD:ExifImageWidth", "ExifIFD:ExifImageHeight", "ExifIFD:ComponentsConfiguration",
        "ExifIFD:FlashpixVersion", "ExifIFD:ColorSpace", "IFD0:XResolution", "IFD0:YResolution",
        "IFD0:ResolutionUnit", "IFD0:YCbCrPositioning", "File:ExifByteOrder",
        "Jpeg2000:CompatibleBrands", "Jpeg2000:MajorBrand", "Jpeg2000:MinorVersion",
    ]
    /// Tags beside ``expected`` that may differ: lists, and what says of the file that it has them.
    private static let further: Set = [
        "XMP-dc:Creator", "XMP-dc:Subject", "IPTC:By-line", "IPTC:Keywords",
        "IPTC:Caption-Abstract", "IPTC:CodedCharacterSet", "IPTC:EnvelopeRecordVersion",
        "ExifIFD:SubSecTimeOriginal", "IFD0:Rating", "IFD0:RatingPercent", "XMP-x:XMPToolkit",
        "SourceFile", "Photoshop:IPTCDigest", "File:CurrentIPTCDigest", "ExifIFD:ExifVersion",
        "RIFF:WebP_Flags",
    ]

    /// Further places of what is written, which go: readers show them first.
    private static let copies: Set = [
        "XMP-lr:HierarchicalSubject", "XMP-lr:WeightedFlatSubject", "XMP-digiKam:TagsList",
        "XMP-microsoft:LastKeywordXMP", "XMP-microsoft:LastKeywordIPTC",
        "XMP-microsoft:RatingPercent", "XMP-mediapro:CatalogSets",
        "XMP-expressionmedia:CatalogSets", "XMP-acdsee:Categories", "XMP-acdsee:Keywords",
        "XMP-acdsee:Rating", "XMP-acdsee:Caption", "XMP-acdsee:Notes", "XMP-acdsee:Author",
        "XMP-acdsee:Datetime", "XMP-pdf:Keywords", "XMP-pdf:Author", "XMP-tiff:Artist",
        "XMP-tiff:Copyright", "XMP-tiff:ImageDescription", "XMP-iptcCore:CountryCode",
        "IPTC:Country-PrimaryLocationCode", "IFD0:XPTitle", "IFD0:XPComment", "IFD0:XPAuthor",
        "IFD0:XPKeywords", "IFD0:XPSubject",
    ]

    private static func output(
        _ metadata: String? = asked, format: Recipe.Format? = nil,
        strip: Recipe.Strip = .none, keepsRights: Bool = false
    ) throws -> Recipe.Output {
        var output = Recipe.Output(format: format, strip: strip, keepsRights: keepsRights)
        output.metadata = try metadata.flatMap {
            try Recipe(json: #"{"filters":[],"output":{"metadata":\#($0)}}"#).output.metadata
        }
        return output
    }

    private static func tags(_ path: String) throws -> [String: String] {
        try Exiftool.tags(of: path, "-G1", "-n", "-all", "-CurrentIPTCDigest")
    }

    /// Warnings of exiftool's check.
    private static func warnings(_ path: String) throws -> Set<String> {
        let text = try Tool.run("exiftool", ["-validate", "-warning", "-a", "-s3", path])
        return Set(
            String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init).filter {
                $0 != "OK" && !$0.contains("Warning")
            })
    }

    /// Compares a photo with the one that was made without the changes.
    private static func judge(
        _ written: String, against plain: String, hasIPTC: Bool,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        var (tags, before) = (try tags(written), try tags(plain))
        // A photo that states no orientation is upright (TIFF 6.0 §8), and only an extended WebP has metadata.
        let orientation = "IFD0:Orientation"
        if before[orientation] ?? "1" == tags[orientation] ?? "1" {
            before[orientation] = tags[orientation]
        }
        if before["File:FileType"]?.hasPrefix("WEBP") == true {
            before["File:FileType"] = tags["File:FileType"]
        }
        for (name, value) in expected.merging(hasIPTC ? ofIPTC : [:], uniquingKeysWith: { $1 }) {
            #expect(tags[name] == value, "\(name) of \(written)", sourceLocation: location)
        }
        let isOther = { (name: String) in
            expected[name] == nil && ofIPTC[name] == nil && !further.contains(name)
                && !["System:", "Composite:", "ExifTool:", "File:FileSize"].contains {
                    name.hasPrefix($0)
                }
                && ![
                    "LocationShown", "Licensor", "CreatorContactInfo", "MPImageStart",
                    "PreviewImage", "ThumbnailOffset", "StripOffsets", "TileOffsets",
                    "MPImageLength",
                    "MediaData",
                ].contains { name.contains($0) }
        }
        // A bare codestream is another type of file.
        let isBare = before["File:FileType"] == "JXL Codestream"
        for name in Set(tags.keys).union(before.keys).sorted() where isOther(name) {
            if before[name] == nil, made.contains(name) { continue }
            if copies.contains(name) {
                #expect(tags[name] == nil, "\(name) of \(plain)", sourceLocation: location)
                continue
            }
            if isBare, name.hasPrefix("File:") { continue }
            #expect(
                tags[name]?.prefix(300) == before[name]?.prefix(300), "\(name) of \(plain)",
                sourceLocation: location)
        }
        let added = try warnings(written).subtracting(warnings(plain))
        #expect(added.isEmpty, "\(added) of \(plain)", sourceLocation: location)
        if hasIPTC {
            #expect(
                tags["Photoshop:IPTCDigest"] == tags["File:CurrentIPTCDigest"],
                "\(tags["Photoshop:IPTCDigest"] ?? "none")", sourceLocation: location)
        }
    }

    private static let formats: [Recipe.Format] = [
        .jpeg, .png, .tiff, .webp, .heic, .avif, .jxl,
    ]

    /// A JPEG with an iPhone's EXIF, XMP and IPTC in Latin-1 with a digest that fits.
    private func source(_ studio: Studio) throws -> String {
        try TestPicture.image(width: 64, height: 48).writeJPEG(
            to: studio.path("plain.jpg"), quality: 90, chroma: .off)
        var plain = try Picture.file(studio.path("plain.jpg"))
        let exif = try Picture.file(Studio.fixture("IMG_1064.exif"))
        let xmp = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4" xmp:Label="L" \
            xmp:ModifyDate="2020-01-01T00:00:00"/></rdf:RDF></x:xmpmeta>
            """
        let records: [UInt8] =
            [0x1C, 2, 0, 0, 2, 0, 4, 0x1C, 2, 40, 0, 4] + Array("M".utf8) + [0xFC]
            + Array("ll".utf8) + [0x1C, 2, 80, 0, 3] + Array("Old".utf8)
        plain.removeSubrange(2..<4 + Int(plain[4]) << 8 + Int(plain[5]))
        plain.insert(
            contentsOf: UltraHDR.bytes(0xE1, exif)
                + UltraHDR.bytes(0xE1, JPEGSegments.xmpSignature + Array(xmp.utf8))
                + UltraHDR.bytes(
                    0xED, IPTC(records: records, digest: MD5.hash(data: records)).photoshopBlock),
            at: 2)
        return try studio.write(plain, as: "in.jpg")
    }

    @Test(arguments: formats)
    func `what is asked for is written into each format, and nothing else changes`(
        format: Recipe.Format
    ) throws {
        let studio = try Studio()
        let source = try source(studio)
        let invert = [try Filter("CIColorInvert")]
        let plain = try studio.render(source, invert, output: Self.output(nil, format: format))
        let written = try studio.render(
            source, invert, output: Self.output(format: format), stem: "written")
        #expect(written.plan.output.written?.count == 17)
        try Self.judge(
            studio.path(written.output.name), against: studio.path(plain.output.name),
            hasIPTC: [.jpeg, .tiff].contains(format))
        let removed = try studio.render(
            studio.path(written.output.name), invert,
            output: Self.output(
                #"{"creator":null,"rights":null,"caption":null,"title":null,"date":null,"keywords":null,"contact":null}"#,
                format: format), stem: "removed")
        let bytes = try Picture.file(studio.path(removed.output.name))
        for text in ["Anna", "© 2026", "Zwei", "Titel", "a@example"] {
            #expect(!bytes.contains(Array(text.utf8)), "\(text) is in a \(format)")
        }
    }

    @Test(arguments: [Recipe.Format.jpeg, .png, .webp, .jxl])
    func `a job that only writes metadata copies all else`(format: Recipe.Format) throws {
        let studio = try Studio()
        let photo = try studio.render(
            try source(studio), [Filter("CIColorInvert")], format: format, stem: "photo")
        let path = studio.path(photo.output.name)
        let written = try studio.render(
            path, [], output: Self.output(format: format), stem: "written")
        #expect(written.plan.lane == .metadata)
        let target = studio.path(written.output.name)
        try Self.judge(target, against: path, hasIPTC: format == .jpeg)
        let (old, new) = (try Picture.file(path), try Picture.file(target))
        let pixels: [UInt8] =
            switch format {
            case .jpeg: [0xFF, 0xDB]
            case .png: Array("IDAT".utf8)
            case .webp: Array("VP8 ".utf8)
            default: Array("jxlc".utf8)
            }
        let start = try #require(old.offset(of: pixels)),
            other = try #require(new.offset(of: pixels))
        let count = format == .webp ? 400 : old.count - start
        #expect(old[start...].prefix(count) == new[other...].prefix(count))
        #expect(
            try studio.render(target, [], format: format).plan.lane == .copy,
            "and it can be read again")
        // A bare file gets what it lacks.
        let bare = try studio.render(
            path, [Filter("CIColorInvert")], output: Self.output(nil, format: format, strip: .all),
            stem: "bare")
        let filled = try studio.render(
            studio.path(bare.output.name), [], output: Self.output(format: format),
            stem: "filled")
        #expect(filled.plan.lane == .metadata)
        try Self.judge(
            studio.path(filled.output.name), against: studio.path(bare.output.name),
            hasIPTC: false)
    }

    /// Returns the segment of a JPEG whose content begins with a text.
    private static func segment(_ jpeg: [UInt8], _ signature: [UInt8]) throws -> Range<Int> {
        let start = try #require(jpeg.offset(of: signature)) - 4
        return start..<start + 2 + Int(jpeg[start + 2]) << 8 + Int(jpeg[start + 3])
    }

    @Test(arguments: [Recipe.Format.jpeg, .png, .webp])
    func `of several packets of a photo none says what was before`(format: Recipe.Format) throws {
        let studio = try Studio()
        let photo = try studio.render(
            try source(studio), [Filter("CIColorInvert")], format: format, stem: "photo")
        var bytes = try Picture.file(studio.path(photo.output.name))
        let packet: Range<Int>
        switch format {
        case .jpeg:
            packet = try Self.segment(bytes, JPEGSegments.xmpSignature)
        case .png:
            let start = try #require(bytes.offset(of: Array("iTXtXML:com".utf8))) - 4
            let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            packet = start..<start + 12 + length
        default:
            let start = try #require(bytes.offset(of: Array("XMP ".utf8)))
            let length = Int(bytes[start + 4]) | Int(bytes[start + 5]) << 8
            packet = start..<start + 8 + length + length % 2
            // The file's own length, of less than 64 KB.
            let whole = Int(bytes[4]) | Int(bytes[5]) << 8 + packet.count
            (bytes[4], bytes[5]) = (UInt8(whole & 0xFF), UInt8(whole >> 8 & 0xFF))
        }
        bytes.insert(contentsOf: bytes[packet], at: packet.upperBound)
        let written = try studio.render(
            studio.write(bytes, as: "twice.\(format.fileExtension)"), [],
            output: Self.output(#"{"creator":["Anna"],"rating":3}"#, format: format),
            stem: "written")
        #expect(written.plan.lane == .metadata)
        let result = try Picture.file(studio.path(written.output.name))
        #expect(!result.contains(Array("Rating=\"4\"".utf8)))
        #expect(try Self.tags(studio.path(written.output.name))["XMP-xmp:Rating"] == "3")
    }

    @Test func `resources of Photoshop in two segments say nothing that was before`() throws {
        let studio = try Studio()
        let bytes = try Picture.file(source(studio))
        let signature = Array("Photoshop 3.0\0".utf8)
        let segment = try Self.segment(bytes, signature)
        let content = bytes[segment].dropFirst(4 + signature.count)
        let half = content.startIndex + content.count / 2
        let halves = [content[..<half], content[half...]].flatMap { part in
            UltraHDR.bytes(0xED, signature + part)
        }
        let divided = try studio.write(
            Array(bytes[..<segment.lowerBound]) + halves + bytes[segment.upperBound...],
            as: "divided.jpg")
        let by = Array("Old".utf8)
        #expect(try Picture.file(divided).contains(by))
        let written = try studio.render(
            divided, [], output: Self.output(#"{"creator":null}"#), stem: "written")
        #expect(try !Picture.file(studio.path(written.output.name)).contains(by))
    }

    @Test func `a JPEG that is only turned gets them, too`() throws {
        let studio = try Studio()
        let photo = try studio.render(
            try source(studio), [Filter("CIColorInvert")], format: .jpeg, stem: "photo")
        let path = studio.path(photo.output.name)
        let turn = [try Filter("turn", ["degrees": 180])]
        let plain = try studio.render(path, turn, format: .jpeg)
        let written = try studio.render(path, turn, output: Self.output(), stem: "written")
        #expect(written.plan.lane == .lossless)
        try Self.judge(
            studio.path(written.output.name), against: studio.path(plain.output.name),
            hasIPTC: true)
    }

    @Test(arguments: formats)
    func `stripped files have creator and rights alone, and only when asked`(
        format: Recipe.Format
    ) throws {
        let studio = try Studio()
        let source = try source(studio)
        func names(_ output: Recipe.Output) throws -> Set<String> {
            let made = try studio.render(source, [Filter("CIColorInvert")], output: output)
            return Set(
                try Self.tags(studio.path(made.output.name)).keys.filter { name in
                    ["XMP", "IPTC", "GPS", "Apple"].contains { name.hasPrefix($0) }
                        || ["IFD0:Artist", "IFD0:Copyright"].contains(name)
                })
        }
        #expect(try names(Self.output(format: format, strip: .all)).isEmpty)
        #expect(
            try names(Self.output(format: format, strip: .all, keepsRights: true)).subtracting([
                "XMP-x:XMPToolkit"
            ]) == [
                "XMP-dc:Creator", "XMP-dc:Rights", "XMP-xmpRights:Marked", "IFD0:Artist",
                "IFD0:Copyright",
            ])
        // The photo's own.
        #expect(
            try names(Self.output(nil, format: format, strip: .all, keepsRights: true))
                .contains("XMP-dc:Creator"))
    }

    @Test func `a value that IPTC has no room for is cut, and the plan says so`() throws {
        let studio = try Studio()
        let name = String(repeating: "ä", count: 40)
        let made = try studio.render(
            try source(studio), [], output: Self.output(#"{"creator":["\#(name)"]}"#))
        #expect(made.plan.notes.contains { $0.contains("metadata.creator is cut to 32 bytes") })
        let tags = try Self.tags(studio.path(made.output.name))
        #expect(tags["IPTC:By-line"] == String(repeating: "ä", count: 16))
        #expect(tags["IPTC:SpecialInstructions"] == "Müll", "converted from Latin-1")
        #expect(tags["XMP-dc:Creator"] == name)
    }

    @Test func `the child tells what a photo says of itself, when it is asked`() throws {
        let studio = try Studio()
        let renderer = try Renderer(reportsLeaks: true)
        let files = RenderFiles(sources: [try OpenFile(reading: try source(studio))])
        var request = PhotoRequest(recipe: try Recipe(filters: []), limits: .init())
        try VipsTurn.shared {
            #expect(try renderer.inspect(request, files).texts == nil)
            request.readsTexts = true
            let texts = try renderer.inspect(request, files).texts
            #expect(texts?.creator == ["Old"] && texts?.rights == nil)
            #expect(texts?.date?.year == 2020 && texts?.tellsChange == true)
            request.recipe = try Recipe(filters: [], output: Self.output(#"{"title":"{creator}"}"#))
            #expect(throws: Failure.self) { try renderer.render(request, files) }
        }
    }

    /// Photos of the repository, and those of the larger set.
    private static let photos: [String] = {
        let own = [
            "tulips.jpg", "dandelion.jpg", "waterfall.jpg", "live.jpg", "sketch.png", "arrow.heic",
        ]
        .map { Repository.root.appending(path: "jobs/photos/\($0)").path }
        guard let corpus = Studio.corpus else { return own }
        let folders = ["avif", "gif", "heic", "jpeg", "jxl", "png", "raw", "tiff", "webp"]
        return own
            + folders.flatMap { folder -> [String] in
                let path = corpus + "/photos/" + folder
                // A corpus may have fewer folders.
                let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
                return names.sorted().map { path + "/" + $0 }
            }
    }()

    @Test(arguments: photos)
    func `real photos keep all else`(_ path: String) throws {
        let studio = try Studio()
        let ending = URL(filePath: path).pathExtension.lowercased()
        let isCopied = ["jpg", "jpeg", "png", "webp", "jxl"].contains(ending)
        let format = ["webp": Recipe.Format.webp, "jxl": .jxl, "heic": .heic, "avif": .avif][ending]
        var filters = isCopied ? [] : [try Filter("CIColorInvert")]
        let plain: TestRender
        do {
            plain = try studio.render(path, filters, output: Self.output(nil, format: format))
        } catch let failure as Failure
            where [.damagedPhoto, .unsupportedFormat].contains(failure.code)
        {
            return
        }
        if plain.plan.lane != .copy, filters.isEmpty { filters = [try Filter("CIColorInvert")] }
        let base =
            filters.isEmpty
            ? plain
            : try studio.render(
                path, filters, output: Self.output(nil, format: format), stem: "base")
        let written = try studio.render(
            path, filters, output: Self.output(format: format), stem: "written")
        let tags = try Self.tags(studio.path(base.output.name))
        try Self.judge(
            studio.path(written.output.name), against: studio.path(base.output.name),
            hasIPTC: tags.keys.contains { $0.hasPrefix("IPTC:") }
                && [.jpeg, .tiff].contains(written.plan.output.format))
    }
}

extension [UInt8] {
    fileprivate func offset(of bytes: [UInt8]) -> Int? {
        var start = startIndex
        while let next = self[start...].firstIndex(of: bytes[0]) {
            if self[next...].starts(with: bytes) { return next }
            start = next + 1
        }
        return nil
    }

    fileprivate func contains(_ bytes: [UInt8]) -> Bool { offset(of: bytes) != nil }
}
