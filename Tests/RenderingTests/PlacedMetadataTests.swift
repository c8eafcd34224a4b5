import Edits
import Foundation
import PhotoFiles
import MinilabTesting
import RenderProtocol
import Testing
import Codecs

@testable import Rendering

/// exiftool judges what a render keeps of large XMP, and where it says that faces are.
@Suite("Large XMP and positions in renders") struct PlacedMetadataTests {
    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count + 2
        return [0xFF, marker, UInt8(count >> 8), UInt8(count & 255)] + content
    }

    private static func xmp(_ packet: [UInt8]) -> [[UInt8]] {
        guard let parts = ExtendedXMP.split(packet) else { return [] }
        return [Array("http://ns.adobe.com/xap/1.0/\0".utf8) + parts.packet]
            + parts.parts.map { ExtendedXMP.signature + $0 }
    }

    /// A JPEG with segments APP1.
    private func jpeg(
        _ studio: Studio, _ contents: [[UInt8]], width: Int = 320, height: Int = 200,
        orientation: Int = 1
    ) throws -> String {
        try TestPicture.image(width: width, height: height).writeJPEG(
            to: studio.path("plain.jpg"), quality: 90, chroma: .off)
        var plain = [UInt8](try Data(contentsOf: URL(filePath: studio.path("plain.jpg"))))
        // The first segment is EXIF of libvips' own making.
        plain.removeSubrange(2..<4 + Int(plain[4]) << 8 + Int(plain[5]))
        var exif = Array("Exif\0\0".utf8) + Exif.upright
        exif[6 + 18] = UInt8(orientation)
        let segments = ([exif] + contents).flatMap { Self.segment(0xE1, $0) }
        plain.insert(contentsOf: segments, at: 2)
        return try studio.write(plain, as: "in.jpg")
    }

    private static let depth = [UInt8]((0..<110_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private static let packetWithDepth = XMP.packet(
        of: """
            <rdf:Description rdf:about='' xmlns:GDepth='http://ns.google.com/photos/1.0/depthmap/' \
            xmlns:dc='http://purl.org/dc/elements/1.1/' GDepth:Mime='image/jpeg' GDepth:Near='1.5' \
            GDepth:Data='\(Data(depth).base64EncodedString())'><dc:subject><rdf:Bag><rdf:li>holiday</rdf:li></rdf:Bag></dc:subject>\
            </rdf:Description>
            """)

    private func depth(of path: String) throws -> [UInt8] {
        [UInt8](try Tool.run("exiftool", ["-b", "-XMP-GDepth:DepthImage", path]))
    }

    /// An edit that changes no pixel by more than 1.
    private func exposure() throws -> [Filter] {
        [try Filter("CIExposureAdjust", ["inputEV": .number(0.0001)])]
    }

    @Test(arguments: [Recipe.Format.jpeg, .png, .tiff, .webp, .heic, .avif, .jxl])
    func `an extension is kept in every format`(_ format: Recipe.Format) throws {
        let studio = try Studio()
        let source = try jpeg(studio, Self.xmp(Self.packetWithDepth))
        #expect(try depth(of: source) == Self.depth)
        let report = try studio.render(source, exposure(), format: format)
        #expect(report.plan.leftOut == nil)
        #expect(try depth(of: studio.path(report.output.name)) == Self.depth)
        let tags = try Exiftool.tags(of: studio.path(report.output.name), "-G1")
        #expect(tags["XMP-dc:Subject"] == "holiday" && tags["ExifTool:Warning"] == nil)
    }

    /// The lanes write a JPEG by three ways: libvips, planes, coefficients.
    @Test func `an extension is kept in every lane, and without its depth where something moves`()
        throws
    {
        let studio = try Studio()
        let source = try jpeg(studio, Self.xmp(Self.packetWithDepth))
        let sharpened = try studio.render(
            source, [Filter("CISharpenLuminance")], format: .jpeg, stem: "stream")
        #expect(sharpened.plan.lane != .planes)
        #expect(try depth(of: studio.path(sharpened.output.name)) == Self.depth)
        let planes = try studio.render(source, exposure(), format: .jpeg, stem: "planes")
        #expect(planes.plan.lane == .planes)
        #expect(try depth(of: studio.path(planes.output.name)) == Self.depth)
        let turned = try jpeg(studio, Self.xmp(Self.packetWithDepth), orientation: 6)
        let lossless = try studio.render(turned, [], format: .jpeg, stem: "lossless")
        #expect(lossless.plan.leftOut == [.depth], "\(lossless.plan)")
        #expect(try depth(of: studio.path(lossless.output.name)).isEmpty)
        let tags = try Exiftool.tags(of: studio.path(lossless.output.name), "-G1")
        #expect(tags["XMP-dc:Subject"] == "holiday")
        let again = try studio.render(
            studio.path(planes.output.name), exposure(), format: .jpeg, stem: "again")
        #expect(try depth(of: studio.path(again.output.name)) == Self.depth)
    }

    @Test func `XMP of 100 kB of a PNG is kept in a JPEG`() throws {
        let studio = try Studio()
        let history = String(repeating: "long history of an edit. ", count: 4_000)
        let packet = XMP.packet(
            of: """
                <rdf:Description rdf:about=''><dc:description xmlns:dc='http://purl.org/dc/elements/1.1/'><rdf:Alt><rdf:li \
                xml:lang='x-default'>\(history)</rdf:li></rdf:Alt></dc:description><dc:subject \
                xmlns:dc='http://purl.org/dc/elements/1.1/'><rdf:Bag><rdf:li>holiday</rdf:li></rdf:Bag></dc:subject></rdf:Description>
                """)
        try TestPicture.image(width: 160, height: 100).changing([.setData("xmp-data", packet)])
            .writePNG(to: studio.path("in.png"))
        let report = try studio.render(studio.path("in.png"), exposure(), format: .jpeg)
        let tags = try Exiftool.tags(of: studio.path(report.output.name), "-G1")
        #expect(tags["XMP-dc:Subject"] == "holiday")
        #expect(tags["XMP-dc:Description"]?.count == history.count)
        #expect(report.plan.leftOut == nil)
    }

    @Test func `an extension that is not whole is named, and the packet is kept`() throws {
        let studio = try Studio()
        let source = try jpeg(studio, Self.xmp(Self.packetWithDepth).dropLast())
        let report = try studio.render(source, exposure(), format: .jpeg)
        #expect(report.plan.leftOut == [.xmp] && "\(report.plan)".contains("part of the XMP"))
        let tags = try Exiftool.tags(of: studio.path(report.output.name), "-G1")
        #expect(tags["XMP-dc:Subject"] == "holiday" && tags["ExifTool:Warning"] == nil)
    }

    // MARK: Positions

    private static let face = XMP.packet(
        of: """
            <rdf:Description rdf:about='' xmlns:mwg-rs='http://www.metadataworkinggroup.com/schemas/regions/' \
            xmlns:stArea='http://ns.adobe.com/xmp/sType/Area#' xmlns:stDim='http://ns.adobe.com/xap/1.0/sType/Dimensions#'>\
            <mwg-rs:Regions rdf:parseType='Resource'><mwg-rs:AppliedToDimensions stDim:w='320' stDim:h='200' stDim:unit='pixel'/>\
            <mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType='Resource'><mwg-rs:Area stArea:x='0.25' stArea:y='0.4' stArea:w='0.1' \
            stArea:h='0.2' stArea:unit='normalized'/><mwg-rs:Name>Alpha</mwg-rs:Name></rdf:li></rdf:Bag></mwg-rs:RegionList>\
            </mwg-rs:Regions></rdf:Description>
            """)

    private func region(_ path: String) throws -> [Double] {
        let tags = try Exiftool.tags(of: path, "-n")
        return [
            "RegionAreaX", "RegionAreaY", "RegionAreaW", "RegionAreaH",
            "RegionAppliedToDimensionsW",
            "RegionAppliedToDimensionsH",
        ].compactMap { tags[$0].flatMap(Double.init) }
    }

    private func expectFace(
        _ found: [Double], _ wanted: [Double], _ location: SourceLocation = #_sourceLocation
    ) {
        let isThere = found.count == 6 && zip(found, wanted).allSatisfy { abs($0 - $1) < 0.001 }
        #expect(isThere, "\(found), expected \(wanted)", sourceLocation: location)
    }

    @Test
    func `a face is where it is after the orientation, a crop, a scale and a blur that grows`()
        throws
    {
        let studio = try Studio()
        let turned = try studio.render(
            try jpeg(studio, Self.xmp(Self.face), orientation: 6), exposure(), format: .jpeg)
        expectFace(try region(studio.path(turned.output.name)), [0.6, 0.25, 0.2, 0.1, 200, 320])
        let source = try jpeg(studio, Self.xmp(Self.face))
        let scaled = try studio.render(
            source, [Filter("CILanczosScaleTransform", ["inputScale": .number(0.5)])],
            format: .jpeg, stem: "scaled")
        expectFace(try region(studio.path(scaled.output.name)), [0.25, 0.4, 0.1, 0.2, 160, 100])
        let crop = try Filter(
            "CICrop", ["inputRectangle": .vector([40, 60, 160, 120])])
        let cropped = try studio.render(source, [crop], format: .png, stem: "cropped")
        expectFace(
            try region(studio.path(cropped.output.name)), [0.25, 0.5, 0.2, 0.333, 160, 120])
        let small = try studio.render(
            source, Recipe(filters: exposure(), output: .init(format: .jpeg)), stem: "small",
            longestSide: 64)
        expectFace(try region(studio.path(small.output.name)), [0.25, 0.4, 0.1, 0.2, 64, 40])
    }

    /// Phones turn a HEIC by a property of the picture, and describe its faces as the sensor has them.
    @Test func `a face of a HEIC that its decoder turns is in the turned frame`() throws {
        let studio = try Studio()
        let tile = try HEICRenderTests.tile(width: 320, height: 200, seed: 1)
        var heic = SyntheticHEIC([tile], columns: 1, width: 320, height: 200)
        let packet = try studio.write(Self.face, as: "face.xmp")
        for (turn, orientation, wanted) in [
            (3, 6, [0.6, 0.25, 0.2, 0.1, 200, 320]), (2, 3, [0.75, 0.6, 0.1, 0.2, 320, 200]),
            // The metadata describe the upright picture.
            (3, 1, [0.25, 0.4, 0.1, 0.2, 320, 200]),
        ] {
            heic.properties = [HEICRenderTests.turns[turn]]
            let path = try studio.write(heic.bytes, as: "turned.heic")
            _ = try Tool.run(
                "exiftool",
                [
                    "-overwrite_original", "-n", "-IFD0:Orientation=\(orientation)",
                    "-xmp<=\(packet)", path,
                ])
            for format in [Recipe.Format.jpeg, .png] {
                let report = try studio.render(path, exposure(), format: format)
                expectFace(try region(studio.path(report.output.name)), wanted)
            }
        }
    }

    @Test func `EXIF after the pixels of a PNG is kept, and turns the picture`() throws {
        let studio = try Studio()
        try TestPicture.image(width: 64, height: 48).writePNG(to: studio.path("plain.png"))
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: studio.path("plain.png"))))
        var exif = Exif.upright
        exif[18] = 6
        let name = Array("eXIf".utf8) + exif
        let crc = PNGChecksum.crc32(name)
        func big(_ value: UInt32) -> [UInt8] {
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        // Before IEND, the last twelve bytes.
        bytes.insert(contentsOf: big(UInt32(exif.count)) + name + big(crc), at: bytes.count - 12)
        let source = try studio.write(bytes, as: "late.png")
        for format in [Recipe.Format.png, .jpeg] {
            let report = try studio.render(source, exposure(), format: format)
            #expect(report.output.size == PixelSize(width: 48, height: 64))
            let tags = try Exiftool.tags(of: studio.path(report.output.name), "-G1", "-n")
            #expect(tags["IFD0:Orientation"] == "1")
        }
    }

    @Test func `the other frames of an animation and the other pages of a TIFF are named`() throws {
        let studio = try Studio()
        let gif = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        let one = try studio.write(gif + frame + [0x3B], as: "one.gif")
        let two = try studio.write(gif + frame + frame + [0x3B], as: "two.gif")
        let invert = [try Filter("CIColorInvert")]
        #expect(try studio.render(one, invert, format: .png).plan.leftOut == nil)
        #expect(try studio.render(two, invert, format: .png).plan.leftOut == [.frames])
    }
}
