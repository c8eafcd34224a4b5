import Testing

@testable import Codecs

@Suite("Packed tiles") struct PackedTileTests {
    /// Planes of samples, whose rows are longer than they are wide.
    private final class Picture {
        let frame: DecodedFrame
        let planes: [[UInt16]]
        let strides: [Int]
        private let memory: [UnsafeMutablePointer<UInt16>]

        init(_ layout: FrameLayout) {
            let shift = layout.chromaShift
            let chroma = (
                (layout.width + (1 << shift.x) - 1) >> shift.x,
                (layout.height + (1 << shift.y) - 1) >> shift.y
            )
            let sizes = [(layout.width, layout.height), chroma, chroma]
            strides = sizes.map { $0.0 + 7 }
            let most = UInt16(1 << layout.bits) - 1
            planes = zip(sizes, strides).map { size, stride in
                // All bits of a sample change, in no order that rows repeat.
                (0..<stride * size.1).map { index in
                    UInt16(truncatingIfNeeded: index &* 2_654_435_761 >> 13) & most
                }
            }
            memory = planes.map { plane in
                let start = UnsafeMutablePointer<UInt16>.allocate(capacity: plane.count)
                start.initialize(from: plane, count: plane.count)
                return start
            }
            let starts = memory
            let rows = strides
            frame = DecodedFrame(
                planes: sizes.indices.map { index in
                    DecodedFrame.Plane(
                        start: UnsafeRawPointer(starts[index]), stride: 2 * rows[index],
                        width: sizes[index].0, height: sizes[index].1)
                },
                layout: layout, light: LightMetadata(), hasAlpha: false, isInterlaced: false,
                rank: 0)
        }

        deinit { for plane in memory { plane.deallocate() } }
    }

    @Test(arguments: [(9, 0), (10, 0), (10, 1)])
    func `give the samples that went in, of any part`(bits: Int, down: Int) throws {
        // An odd width, so that rows end within a byte of high bits.
        let layout = FrameLayout(width: 1027, height: 1025, bits: bits, chromaShift: (1, down))
        let picture = Picture(layout)
        let tile = try #require(PackedTile(picture.frame))
        for (index, plane) in picture.frame.planes.enumerated() {
            #expect(tile.size(of: index) == (plane.width, plane.height))
            for (columns, rows) in [
                (0..<plane.width, 0..<plane.height), (3..<70, 5..<6),
                (plane.width - 1..<plane.width, 0..<plane.height), (7..<7, 0..<2), (0..<4, 9..<9),
            ] {
                var found = [UInt16](repeating: 0xFFFF, count: columns.count * rows.count)
                found.withUnsafeMutableBufferPointer { target in
                    guard let start = target.baseAddress else { return }
                    tile.unpack(index, columns: columns, rows: rows, to: start)
                }
                let stride = picture.strides[index]
                let expected = rows.flatMap { y in
                    columns.map { x in picture.planes[index][y * stride + x] }
                }
                let isSame = found == expected
                #expect(isSame, "plane \(index), \(columns), \(rows)")
            }
        }
    }

    @Test func `are made only of large tiles with 9 or 10 bits`() {
        for (width, bits, isPacked) in [
            (1024, 10, true), (1023, 10, false), (1024, 8, false), (1024, 12, false),
        ] {
            let picture = Picture(
                FrameLayout(width: width, height: 1024, bits: bits))
            #expect((PackedTile(picture.frame) != nil) == isPacked)
        }
    }
}
