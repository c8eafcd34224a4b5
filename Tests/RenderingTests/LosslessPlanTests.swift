import Edits
import Files
import Foundation
import Codecs
@testable import Rendering
import RenderProtocol
import Testing

@Suite("Lossless plans") struct LosslessPlanTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    /// A 4:2:0 photo of 6 by 4 MCUs, or of another size.
    private func photo(width: Int = 96, height: Int = 64, orientation: Int = 1) throws -> String {
        let path = studio.path("photo.jpg")
        try TestPicture.image(width: width, height: height)
            .changing([
                .setInt("orientation", orientation),
                .setString("exif-ifd0-Orientation", "\(orientation)"),
            ])
            .writeJPEG(to: path, quality: 80, chroma: .on)
        return path
    }

    private func pixels(_ path: String) throws -> Picture { try Picture(path, loader: "jpegload") }

    @Test(arguments: 1...8)
    func `turning a JPEG upright computes no pixel anew`(_ orientation: Int) throws {
        let source = try photo(orientation: orientation)
        let report = try studio.render(source, [Filter("turn", ["degrees": 0])])
        #expect(report.plan.lane == (orientation == 1 ? .copy : .lossless))
        let result = try pixels(studio.path(report.output.name))
        let expected = try Image.open(source, loader: "jpegload", streaming: false, failOn: .error)
            .laid(Orientation(rawValue: orientation) ?? .upright, spool: .none)
        #expect(result.width == expected.width && result.height == expected.height)
        // Chroma is brought back to full size by a filter that is not quite symmetric.
        let turned = try Picture.of(expected)
        #expect(result.difference(from: turned).rms < 1.5)
        #expect(result.image.int("orientation") ?? 1 == 1)
    }

    @Test func `a crop at MCUs keeps the coefficients, and one beside them is compressed anew`()
        throws
    {
        let source = try photo()
        // 16 columns and 32 rows from the top left.
        let aligned = try studio.render(source, [Filter("CICrop", ["rectangle": [16, 0, 50, 32]])])
        #expect(aligned.plan.lane == .lossless && aligned.plan.notes.isEmpty)
        #expect(aligned.output.size == PixelSize(width: 50, height: 32))
        let result = try pixels(studio.path(aligned.output.name))
        let expected = try Picture.of(
            pixels(source).image.cropped(to: .init(left: 16, top: 32, width: 50, height: 32)))
        // Only chroma at the edges, for which the neighbours are gone, may differ.
        #expect(result.difference(from: expected).rms < 1.5)
        let beside = try studio.render(source, [Filter("CICrop", ["rectangle": [8, 0, 50, 32]])])
        #expect(beside.plan.lane == .stream)
        #expect(
            beside.plan.notes.contains { $0.contains("multiple of 16 columns and 16 rows") })
    }

    @Test func `a turn that would move parts of MCUs is compressed anew, and the plan says why`()
        throws
    {
        let report = try studio.render(photo(width: 90, height: 64), [Filter("flip")])
        #expect(report.plan.lane == .stream)
        #expect(report.plan.description.contains("10 columns at the right"))
    }

    @Test func `a recipe that changes nothing copies the file`() throws {
        let source = try photo()
        let nothing = [
            try Filter("CISepiaTone", ["intensity": 0]), try Filter("turn", ["degrees": 180]),
            try Filter("flip"), try Filter("flip", ["axis": "vertical"]),
        ]
        let report = try studio.render(source, nothing)
        #expect(report.plan.lane == .copy && report.plan.passes.isEmpty)
        #expect(try report.output.digest == FileDigest.sha256(of: source).hex)
        // A wish for another quality or format is one.
        #expect(try studio.render(source, nothing, quality: 0.5).plan.lane != .copy)
        #expect(try studio.render(source, nothing, format: .png).plan.lane != .copy)
    }

    @Test func `a photo that is cut off is not published in part`() throws {
        let bytes = try Picture.file(photo())
        let source = try studio.write(Array(bytes.prefix(bytes.count / 2)), as: "cut.jpg")
        let failure = #expect(throws: Failure.self) {
            try studio.render(source, [Filter("turn")])
        }
        #expect(failure?.code == .damagedPhoto)
    }

    @Test func `what changes nothing by its parameters changes no byte`() throws {
        let source = studio.path("in.png")
        try TestPicture.image(width: 40, height: 30).writePNG(to: source)
        let original = try Picture(source)
        for definition in FilterCatalogue.all where !definition.isGenerator {
            let identities = definition.parameters.filter { $0.identity != nil }
            let hasAll = definition.parameters.allSatisfy { $0.defaultValue != nil }
            guard !identities.isEmpty, hasAll else { continue }
            let filter = try Filter(
                definition.name,
                Dictionary(uniqueKeysWithValues: identities.map { ($0.name, $0.identity!) }))
            #expect(filter.changesNothing)
            // What is left out when planned is run here.
            let size = PixelSize(width: 40, height: 30)
            guard case .pixel(let make) = definition.kernel else { continue }
            let working = try make(filter, FilterContext(size: size))
            var runner = PassRunner(
                try StandardImage(original.image), target: .init(sample: .encoded8, bands: 3),
                targetColour: .sRGB, background: .white, spool: .none)
            let result = try Picture.of(
                runner.run([.pixels([Pass.Pixel(filters: [filter], working: working)])]))
            #expect(result.difference(from: original).max <= 1, "\(filter)")
        }
    }
}
