import Edits
import Foundation
import PhotoFiles
import RenderProtocol
import Testing
import Codecs

@testable import Rendering

/// exiftool judges what each format says about a render.
@Suite("Metadata of renders") struct RenderMetadataTests {
    private static let xmp = """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF \
        xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" \
        xmlns:tiff="http://ns.adobe.com/tiff/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/" \
        xmlns:xmp="http://ns.adobe.com/xap/1.0/" tiff:Orientation="6" xmp:Rating="4" \
        exif:GPSLatitude="38,55.04N"/></rdf:RDF></x:xmpmeta>
        """
    private static let iptc: [UInt8] = [0x1C, 2, 5, 0, 6] + Array("Tulips".utf8)

    private static let formats: [Recipe.Format] = [.jpeg, .png, .tiff, .webp, .heic, .avif, .jxl]

    /// A JPEG of 64×48 with an iPhone's EXIF (orientation 6), XMP and IPTC.
    private func source(_ studio: Studio, xmp: String = Self.xmp) throws -> String {
        try TestPicture.image(width: 64, height: 48).writeJPEG(
            to: studio.path("plain.jpg"), quality: 90, chroma: .off)
        var plain = [UInt8](try Data(contentsOf: URL(filePath: studio.path("plain.jpg"))))
        let exif = [UInt8](try Data(contentsOf: URL(filePath: Studio.fixture("IMG_1064.exif"))))
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            let count = content.count + 2
            return [0xFF, marker, UInt8(count >> 8), UInt8(count & 255)] + content
        }
        // The first segment is EXIF of libvips' own making.
        plain.removeSubrange(2..<4 + Int(plain[4]) << 8 + Int(plain[5]))
        plain.insert(
            contentsOf: segment(0xE1, exif)
                + segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(xmp.utf8))
                + segment(0xED, IPTC(records: Self.iptc).photoshopBlock), at: 2)
        return try studio.write(plain, as: "in.jpg")
    }

    @Test(arguments: formats)
    func `what is written to a format is read from it`(format: Recipe.Format) throws {
        let studio = try Studio()
        let jpeg = try source(
            studio,
            xmp: "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>\(Self.xmp)<?xpacket end='w'?>")
        let filters = [try Filter("CIColorInvert")]
        let first = try studio.render(jpeg, filters, format: format, stem: "first")
        #expect(first.plan.leftOut == ([.jpeg, .tiff].contains(format) ? nil : [.iptc]))
        let second = try studio.render(
            studio.path(first.output.name), filters, format: .jpeg, stem: "second")
        let tags = try Exiftool.tags(of: studio.path(second.output.name), "-G1", "-n")
        #expect(tags["IFD0:Model"] == "iPhone 6s" && tags["XMP-xmp:Rating"] == "4")
        #expect((tags["IPTC:ObjectName"] == "Tulips") == (first.plan.leftOut == nil))
    }

    /// A TIFF structure of an empty directory, as long as asked.
    private static func exif(_ count: Int) -> [UInt8] {
        let head: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        return head + [UInt8](repeating: 0, count: count - head.count)
    }

    @Test func `EXIF and XMP without room in the result are left out by name, whatever the source`()
        throws
    {
        let studio = try Studio()
        let jpeg = try source(studio)
        let bare = try studio.render(
            jpeg, [Filter("CIColorInvert")], output: .init(format: .jxl, strip: .all), stem: "bare")
        let codestream = try Picture.file(studio.path(bare.output.name))
        #expect(codestream.starts(with: [0xFF, 0x0A]))
        func leftOut(_ head: [UInt8], _ format: Recipe.Format) throws -> [Companion]? {
            let path = try studio.write(head + codestream, as: "in.jxl")
            return try studio.render(path, [Filter("CIColorInvert")], format: format).plan.leftOut
        }
        let large = JXLContainer.head(exif: Self.exif(70_000), xmp: nil)
        for format in Self.formats {
            let holds = [.png, .tiff, .heic, .jxl].contains(format)
            #expect(try leftOut(large, format) == (holds ? nil : [.exif]), "\(format)")
        }
        let word = [UInt8](repeating: UInt8(ascii: "a"), count: 5_000_000)
        let xmp = Array(
            Self.xmp.replacing(
                #"xmp:Rating="4""#, with: "xmp:Label=\"\(String(decoding: word, as: UTF8.self))\""
            ).utf8)
        let long = JXLContainer.head(exif: nil, xmp: xmp)
        #expect(try leftOut(long, .png) == [.xmp], "more than is read")
        let broken = JXLContainer.head(exif: Self.exif(40), xmp: nil).replacing(
            Array("Exif".utf8), with: Array("brob".utf8))
        #expect(try leftOut(broken, .png) == nil, "a box of an unknown kind")
    }

    /// Two frames of 16×16, as cjxl 0.7 writes a GIF.
    private static let animation: [UInt8] = [
        0xFF, 0x0A, 0x43, 0x04, 0x01, 0xD8, 0x50, 0x5C, 0x12, 0x00, 0x48, 0x00, 0x15, 0x80, 0x02,
        0x00,
        0xE0, 0x01, 0x5D, 0xE5, 0x12, 0x00, 0x00, 0x15, 0x2A, 0xA3, 0x8C, 0x1B, 0xBC, 0x9C, 0xEB,
        0xF9,
        0xF2, 0x43, 0x87, 0xC5, 0xB4, 0x8D, 0xEB, 0x0C, 0x6D, 0xB5, 0x6D, 0x61, 0x49, 0xE2, 0x18,
        0x71,
        0xB7, 0xAE, 0x0E, 0x28, 0xB2, 0x13, 0x03, 0x05, 0xFC, 0x81, 0x42, 0x0D, 0x91, 0x82, 0x02,
        0x2B,
        0x18, 0x2F, 0x32, 0xC6, 0xC8, 0x8B, 0x31, 0x78, 0xB8, 0x18, 0x1C, 0x17, 0x63, 0xBC, 0x12,
        0x4F,
        0x12, 0x46, 0x8F, 0x00, 0xA0, 0xF3, 0x10, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
        0x11,
        0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
        0x11,
        0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x99, 0x46, 0x62, 0x10, 0x06, 0x18, 0x36, 0x80, 0x00,
        0x09,
        0xCC, 0x90, 0x8D, 0x48, 0x0B, 0x40, 0x44, 0x54, 0x92, 0x00, 0x00, 0x48, 0x00, 0x15, 0xA2,
        0x00,
        0x00, 0xCC, 0x01, 0x5D, 0xE5, 0x12, 0x00, 0x00, 0x15, 0x2A, 0xA3, 0x8C, 0x1B, 0xBC, 0x9C,
        0xEB,
        0xF9, 0xF2, 0x43, 0x87, 0xC5, 0xB4, 0x8D, 0xEB, 0x0C, 0x6D, 0xB5, 0x6D, 0x61, 0x49, 0xE2,
        0x18,
        0x71, 0xB7, 0xAE, 0x0E, 0x28, 0xB2, 0x13, 0x03, 0x05, 0xFC, 0x81, 0x42, 0x0D, 0x91, 0x82,
        0x02,
        0xE9, 0x8C, 0x31, 0x5E, 0x8C, 0x91, 0x31, 0x78, 0xBA, 0x18, 0x74, 0xF1, 0x4A, 0x3C, 0x71,
        0x18,
        0x38, 0x00, 0x00, 0x8C, 0x45, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44,
        0x44,
        0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44,
        0x44,
        0x44, 0x44, 0x44, 0x44, 0x64, 0x0C, 0x28, 0x30, 0x00, 0x00, 0x17, 0x7D, 0xCF, 0x8C, 0x70,
        0x5E,
        0x15, 0x00, 0x84, 0x56, 0x92, 0x00,
    ]

    @Test func `the other frames of a JPEG XL are left out by name`() throws {
        let studio = try Studio()
        let source = try studio.write(Self.animation, as: "in.jxl")
        let report = try studio.render(source, [Filter("CIColorInvert")])
        #expect(report.plan.leftOut == [.frames])
        #expect(report.header.notes.contains { $0.contains("animation") })
    }

    private func tags(_ studio: Studio, _ output: Recipe.Output) throws -> [String: String] {
        let report = try studio.render(
            try source(studio), [Filter("CIColorInvert")], output: output)
        #expect(report.output.size == PixelSize(width: 48, height: 64))
        return try Exiftool.tags(of: studio.path(report.output.name), "-G1", "-n")
    }

    @Test(arguments: formats)
    func `all is kept and what is no longer true is corrected`(format: Recipe.Format) throws {
        let tags = try tags(Studio(), .init(format: format))
        #expect(tags["IFD0:Model"] == "iPhone 6s")
        #expect(tags["IFD0:Orientation"] == "1")
        #expect(tags["ExifIFD:ExifImageWidth"] == "48")
        #expect(tags["ExifIFD:ExifImageHeight"] == "64")
        #expect(tags["Apple:RunTimeValue"] == "1043220024479291", "the MakerNote is broken")
        #expect(tags["GPS:GPSLatitude"]?.hasPrefix("38.917") == true)
        #expect(tags["XMP-xmp:Rating"] == "4")
        #expect(tags["XMP-tiff:Orientation"] == "1")
        #expect(tags.keys.allSatisfy { !$0.hasPrefix("IFD1") }, "the old thumbnail is there")
        #expect(tags["ExifTool:Warning"] == nil, "\(tags["ExifTool:Warning"] ?? "")")
        // The other formats have no place for IPTC.
        if format == .jpeg || format == .tiff { #expect(tags["IPTC:ObjectName"] == "Tulips") }
    }

    @Test(arguments: [Recipe.Format.tiff, .jpeg])
    func `the EXIF of a TIFF is kept too`(format: Recipe.Format) throws {
        let studio = try Studio()
        let tiff = try studio.render(
            try source(studio), [Filter("CIColorInvert")], format: .tiff, stem: "between")
        let report = try studio.render(
            studio.path(tiff.output.name), [Filter("CIColorInvert")], format: format)
        let tags = try Exiftool.tags(of: studio.path(report.output.name), "-G1", "-n")
        #expect(tags["IFD0:Model"] == "iPhone 6s" && tags["IFD0:Orientation"] == "1")
        #expect(tags["ExifIFD:ExifImageWidth"] == "48" && tags["ExifIFD:FNumber"] == "2.2")
        #expect(tags["Apple:RunTimeValue"] == "1043220024479291")
        #expect(tags["GPS:GPSLatitude"]?.hasPrefix("38.917") == true)
        #expect(tags["IPTC:ObjectName"] == "Tulips" && tags["XMP-xmp:Rating"] == "4")
        #expect(tags["ExifTool:Warning"] == nil)
    }

    @Test(arguments: formats)
    func `the location goes when that is asked for`(format: Recipe.Format) throws {
        let tags = try tags(Studio(), .init(format: format, strip: .gps))
        #expect(tags["IFD0:Model"] == "iPhone 6s" && tags["XMP-xmp:Rating"] == "4")
        #expect(tags.keys.allSatisfy { !$0.contains("GPS") })
        #expect(tags["ExifTool:Warning"] == nil)
    }

    @Test(arguments: formats)
    func `nothing of the original's metadata is left when that is asked for`(
        format: Recipe.Format
    ) throws {
        let tags = try tags(Studio(), .init(format: format, strip: .all))
        #expect(tags["IFD0:Model"] == nil && tags["ExifIFD:ColorSpace"] == nil)
        #expect(
            tags.keys.allSatisfy { name in
                !["GPS", "XMP", "IPTC", "Apple", "IFD1"].contains { name.hasPrefix($0) }
            })
    }

    @Test(arguments: formats)
    func `the profile is kept even when all metadata goes`(format: Recipe.Format) throws {
        let studio = try Studio()
        let profile = [UInt8](
            try Data(contentsOf: URL(filePath: Studio.fixture("DisplayP3-v4.icc"))))
        try TestPicture.image(width: 64, height: 48)
            .changing([.setData("icc-profile-data", profile)]).writePNG(to: studio.path("in.png"))
        let report = try studio.render(
            studio.path("in.png"), [Filter("CIColorInvert")],
            output: .init(format: format, strip: .all))
        let header = try PhotoFile(at: studio.path(report.output.name)).header()
        #expect(header.hasProfile)
    }
}
