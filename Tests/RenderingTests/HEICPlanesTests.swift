import Edits
import PhotoFiles
import Codecs
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

/// HEICs whose luma and chroma go to a JPEG as they are stored, against the stream lane.
@Suite("HEIC in planes") struct HEICPlanesTests {
    private let sepia: Filter
    private let studio: Studio

    init() throws {
        sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        studio = try Studio()
    }

    private func tiles(
        _ count: Int = 6, bits: Int = 8, _ chroma: Image.ChromaSubsampling = .on
    ) throws -> [SyntheticHEIC.Tile] {
        try (0..<count).map {
            try HEICRenderTests.tile(
                width: 64, height: 64, seed: $0, bits: bits, chroma: chroma)
        }
    }

    /// A grid of 180 × 100 pixels.
    private func grid(
        _ properties: [[UInt8]] = [], _ chroma: Image.ChromaSubsampling = .on
    ) throws -> String {
        var heic = SyntheticHEIC(try tiles(6, chroma), columns: 3, width: 180, height: 100)
        heic.properties = properties
        return try studio.write(heic.bytes, as: "grid.heic")
    }

    /// Renders to a JPEG in planes and to pixels by the stream lane, and compares.
    private func compare(
        _ path: String, _ filters: [Filter], below bound: Double, threads: Int = 1,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let report = try studio.render(
            path, filters, format: .jpeg, quality: 1, threads: threads)
        #expect(report.plan.lane == .planes, sourceLocation: location)
        let result = try Picture(studio.path(report.output.name))
        let expected = try studio.pixels(of: path, filters, stem: "pixels")
        #expect(
            result.width == expected.width && result.height == expected.height,
            sourceLocation: location)
        let difference = result.difference(from: expected)
        #expect(difference.rms < bound, "\(difference)", sourceLocation: location)
        let layout = try JPEGReader(studio.path(report.output.name)).header.layout
        #expect(layout.chroma == report.plan.output.chroma.rawValue, sourceLocation: location)
    }

    @Test(arguments: HEICRenderTests.turns.indices, [Image.ChromaSubsampling.on, .off])
    func `the result is what the stream lane makes of the pixels`(
        _ turn: Int, _ chroma: Image.ChromaSubsampling
    ) throws {
        let path = try grid([HEICRenderTests.turns[turn]], chroma)
        // As for JPEGs: rounding in two colour spaces, and twice the smoothing of chroma.
        try compare(path, [sepia], below: 0.9)
        try compare(path, [], below: 0.9)
    }

    private static let turns: [[Filter]] = {
        let quarters = [90, 180, 270].compactMap { try? Filter("turn", ["degrees": .number($0)]) }
        let flips = ["horizontal", "vertical"].compactMap {
            try? Filter("flip", ["axis": .text($0)])
        }
        return (quarters + flips).map { [$0] } + flips.map { [quarters[0], $0] }
    }()

    @Test(arguments: turns)
    func `a turn is the order in which tiles are decoded, so nothing is kept`(_ turn: [Filter])
        throws
    {
        #expect(Self.turns.count == 7)
        let path = try grid([HEICRenderTests.turns[1], HEICRenderTests.turns[4]])
        try compare(path, turn + [sepia], below: 0.9)
        try compare(path, turn, below: 0.9)
        let plain = try studio.render(path, [sepia], format: .jpeg).plan.estimate
        let turned = try studio.render(path, turn + [sepia], format: .jpeg).plan.estimate
        #expect(turned.memoryBytes - plain.memoryBytes < 100_000 && turned.spoolBytes == 0)
    }

    @Test(arguments: [1, 4]) func `a turn and a vignette stay in the planes`(_ threads: Int) throws
    {
        let path = try grid([HEICRenderTests.turns[1]])
        try compare(path, [Filter("turn"), sepia], below: 0.9, threads: threads)
        try compare(
            path,
            [
                sepia,
                Filter("CIVignetteEffect", ["center": [50, 30], "radius": 60, "intensity": 0.8]),
            ], below: 1.1, threads: threads)
    }

    @Test func `a photo that is cut is taken where chroma is not parted`() throws {
        // clap: width, height and the offset of the middle, as fractions (ISO/IEC 14496-12 §12.1.4).
        func cut(_ width: Int, _ height: Int, _ x: Int, _ y: Int) -> [UInt8] {
            Bytes.box("clap", [width, 1, height, 1, x, 1, y, 1].flatMap { Bytes.big($0) })
        }
        let even = try grid([cut(160, 80, 4, 2)])
        try compare(even, [sepia], below: 0.9)
        let odd = try grid([cut(160, 80, 3, 2)])
        let report = try studio.render(odd, [sepia], format: .jpeg)
        #expect(report.plan.lane == .stream)
    }

    @Test(arguments: ["limited", "matrix", "deep", "alpha", "png"])
    func `codes that a JPEG has not go another way`(_ what: String) throws {
        var heic = SyntheticHEIC(try tiles(1, bits: what == "deep" ? 10 : 8)[0])
        let matrix = what == "matrix" ? 1 : 6
        heic.properties = [
            Bytes.box(
                "colr",
                Bytes.text("nclx") + Bytes.big(1, 2) + Bytes.big(13, 2) + Bytes.big(matrix, 2)
                    + [what == "limited" ? 0 : 0x80])
        ]
        if what == "alpha" { heic.alpha = heic.tiles[0] }
        let path = try studio.write(heic.bytes, as: "other.heic")
        let report = try studio.render(path, [sepia], format: what == "png" ? .png : .jpeg)
        #expect(report.plan.lane == .stream)
    }

    @Test func `without a filter samples are the decoder's own`() throws {
        let path = try grid()
        let report = try studio.render(path, [], format: .jpeg, quality: 1)
        #expect(report.plan.lane == .planes && report.plan.output.chroma == .half)
        #expect(report.header.chroma == .half)
        // 4:4:4 is asked for: chroma has to be interpolated.
        let full = try studio.render(
            path, [], output: .init(format: .jpeg, chroma: .full), stem: "full")
        #expect(full.plan.lane == .stream)
    }

    @Test func `tiles that bring other codes than their configuration says are refused`() throws {
        // Matrix 0, as green, blue and red, in the stream; the planner saw the list say 6 of the first tile alone.
        var heic = SyntheticHEIC(try tiles(1)[0])
        let other = try HEICRenderTests.tile(
            width: 64, height: 64, seed: 1, chroma: .off)
        heic.tiles[0].unit = other.unit
        let path = try studio.write(heic.bytes, as: "other.heic")
        // A picture that contradicts its configuration is damaged, or decodes to something; never an error of ours.
        do {
            _ = try studio.render(path, [sepia], format: .jpeg)
        } catch let failure as Failure {
            #expect(failure.code == .damagedPhoto)
        }
    }

    @Test func `any number of threads gives the same bytes`() throws {
        let path = try grid([HEICRenderTests.turns[4]])
        let files = try [1, 4].map { threads in
            let report = try studio.render(
                path, [sepia], format: .jpeg, stem: "threads\(threads)", threads: threads)
            return try Picture.file(studio.path(report.output.name))
        }
        #expect(files[0] == files[1])
    }

    // MARK: Real photos

    private static let photos: [String] = {
        guard let corpus = Studio.corpus else { return [] }
        return ["heic/IMG_0102.HEIC", "heic/pug.heic", "aae/IMG_1853/IMG_E1853.heic"].map {
            corpus + "/photos/" + $0
        }
    }()

    @Test(arguments: photos)
    func `photos of phones are edited in planes and keep what they say`(_ path: String) throws {
        let report = try studio.render(path, [sepia], format: .jpeg, quality: 1)
        #expect(report.plan.lane == .planes)
        let result = try Picture(studio.path(report.output.name))
        let expected = try studio.pixels(of: path, [sepia], stem: "pixels")
        #expect(result.width == expected.width && result.height == expected.height)
        // Detail has sharp chroma, which is interpolated on one way and repeated on the other.
        #expect(result.difference(from: expected).rms < 2)
        let header = try JPEGReader(studio.path(report.output.name)).header
        #expect(header.markers.profile != .none)
        #expect(header.markers.contains { $0.starts(with: "Exif\0\0") })
        #expect(result.image.int("orientation") ?? 1 == 1)
    }
}
