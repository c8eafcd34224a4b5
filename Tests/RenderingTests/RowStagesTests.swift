import Edits
import Filters
import MinilabTesting
import Testing

@testable import Rendering

@Suite("Rows that threads make together", .timeLimit(.minutes(10))) struct RowStagesTests {
    private static let photo = PixelProgram.Layout(sample: .encoded8, bands: 3)
    private static let planes = PixelProgram.Layout(sample: .planes, bands: 3)

    @Test(arguments: [(37, 1), (37, 200), (200, 16), (64, 17), (8, 1000)])
    func `are those that one makes`(width: Int, height: Int) throws {
        let codes = Codes(width: width, height: height)
        let single = Self.chain(codes) { rows, _ in rows }
        let stages = try #require(RowStages(parts: 3))
        let together = Self.chain(codes, stages)
        for y in 0..<height {
            #expect(Self.row(of: together, codes) == Self.row(of: single, codes), "row \(y)")
        }
    }

    @Test func `are given up when nobody asks for more`() throws {
        let codes = Codes(width: 50, height: 5000)
        for consumed in [0, 1, 40] {
            let stages = try #require(RowStages(parts: 3))
            let rows = Self.chain(codes, stages)
            for _ in 0..<consumed { _ = Self.row(of: rows, codes) }
        }
        // Nor does a thread wait that was never given anything to do.
        _ = try #require(RowStages(parts: 2))
    }

    @Test func `end where the photo cannot be read any further`() throws {
        let codes = Codes(width: 50, height: 500, endsAt: 130)
        let stages = try #require(RowStages(parts: 2))
        let rows = Self.chain(codes, stages, cuts: [1])
        var made = 0
        while made < 500, Self.row(of: rows, codes) != nil { made += 1 }
        #expect((1..<130).contains(made))
    }

    @Test func `need threads for their parts`() { #expect(RowStages(parts: 0) == nil) }

    // MARK: -

    /// A photo of codes that differ from pixel to pixel.
    private final class Codes: PhotoReader {
        let width, height, endsAt: Int
        let bytes: UnsafeMutableRawBufferPointer

        init(width: Int, height: Int, endsAt: Int = .max) {
            (self.width, self.height, self.endsAt) = (width, height, endsAt)
            bytes = .allocate(byteCount: 3 * width * height, alignment: 16)
            for index in bytes.indices {
                bytes[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 7)
            }
        }

        deinit { bytes.deallocate() }

        func rows(from top: Int, count: Int) -> RegionPixels? {
            guard top + count <= min(height, endsAt), let start = bytes.baseAddress else {
                return nil
            }
            return RegionPixels(
                area: PixelArea(left: 0, top: top, width: width, height: count),
                start: start + 3 * width * top, stride: 3 * width)
        }

        func pixels(of area: PixelArea) -> RegionPixels? { nil }
    }

    /// Each row with the one above it.
    private final class Sums: RowSource {
        let source: any RowSource
        private let above: ScratchRow
        var format: RowFormat { source.format }

        init(_ source: any RowSource) {
            self.source = source
            above = ScratchRow(width: source.format.width, planes: source.format.planes)
        }

        func next(into row: PlanarRow) {
            source.next(into: row)
            for plane in 0..<format.planes {
                for x in 0..<format.width {
                    let sample = row[plane][x]
                    row[plane][x] = (sample + above.row[plane][x]) / 2
                    above.row[plane][x] = sample
                }
            }
        }
    }

    private static func program(
        _ source: PixelProgram.Layout, _ target: PixelProgram.Layout, _ codes: Codes
    ) -> PixelProgram {
        PixelProgram(
            source: source, filters: [], target: target, height: codes.height, colour: .sRGB,
            targetColour: .sRGB, background: .white)
    }

    private static func chain(
        _ codes: Codes, _ cut: (any RowSource, Int) -> any RowSource
    ) -> any CodedRowSource {
        let (rows, photo) = parts(codes, cut)
        photo.reader = codes
        return rows
    }

    private static func chain(
        _ codes: Codes, _ stages: RowStages, cuts: [Int] = [1, 2]
    ) -> any CodedRowSource {
        let reader = stages.read(
            width: codes.width, height: codes.height, rowBytes: 3 * codes.width)
        let (rows, photo) = parts(codes) { rows, position in
            cuts.contains(position) ? stages.cut(rows) : rows
        }
        photo.reader = reader
        stages.finish(rows, rowBytes: 3 * codes.width)
        stages.reader = codes
        return stages
    }

    private static func parts(
        _ codes: Codes, _ cut: (any RowSource, Int) -> any RowSource
    ) -> (CodedRows, PhotoRows) {
        let format = RowFormat(width: codes.width, height: codes.height, planes: 3)
        let whole = PhotoRows(
            format, program(photo, planes, codes),
            program(photo, .init(sample: .linear, bands: 3), codes))
        var rows: any RowSource = whole
        for position in 1...3 { rows = cut(Sums(rows), position) }
        return (CodedRows(rows, of: whole, program(planes, photo, codes)), whole)
    }

    private static func row(of rows: any CodedRowSource, _ codes: Codes) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 3 * codes.width)
        let isThere = bytes.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map(rows.makeRow) ?? false
        }
        return isThere ? bytes : nil
    }
}
