import Adjustments
import Foundation
import Metadata
import RenderProtocol
import Testing
import Vips

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
    private func source(_ studio: Studio) throws -> String {
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
                + segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(Self.xmp.utf8))
                + segment(0xED, IPTC.photoshopBlock(Self.iptc)), at: 2)
        return try studio.write(plain, as: "in.jpg")
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
