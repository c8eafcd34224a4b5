import Adjustments
import Codecs

/// Frames of 8 bits edited in planes: a part is copied, some rows at a time, and edited while it is in the first-level cache.
struct FramePlanes {
    private let part: PixelArea
    private let layout: FrameLayout
    private let program: PlaneProgram?

    /// Rows of chroma that are copied and edited together: with their luma 46 KB of 1080p.
    private static let rows = 8

    /// - Parameters:
    ///   - part: of luma, in whole samples of chroma.
    ///   - program: nil for frames that are only copied.
    init(_ part: PixelArea, _ layout: FrameLayout, _ program: PlaneProgram?) {
        (self.part, self.layout, self.program) = (part, layout, program)
    }

    func edit(_ source: [SourcePlane], into target: [TargetPlane]) {
        let (across, down) = (layout.across, layout.down)
        let chromaRows = part.height / down
        for first in stride(from: 0, to: chromaRows, by: Self.rows) {
            let rows = min(Self.rows, chromaRows - first)
            copy(source[0], target[0], from: first * down, rows: rows * down, across: 1, down: 1)
            copy(source[1], target[1], from: first, rows: rows, across: across, down: down)
            copy(source[2], target[2], from: first, rows: rows, across: across, down: down)
            guard let program else { continue }
            func samples(_ plane: Int, _ row: Int) -> UnsafeMutablePointer<UInt8> {
                target[plane].row(row).assumingMemoryBound(to: UInt8.self)
            }
            // The planes of chroma of an encoder are alike.
            program.run(
                PlaneProgram.Band(
                    luma: samples(0, first * down), blue: samples(1, first), red: samples(2, first),
                    lumaStride: target[0].stride, chromaStride: target[1].stride,
                    columns: part.width / across, rows: rows, across: across, down: down,
                    top: layout.height - part.top - first * down))
        }
    }

    private func copy(
        _ source: SourcePlane, _ target: TargetPlane, from first: Int, rows: Int, across: Int,
        down: Int
    ) {
        for row in first..<first + rows {
            target.row(row).copyMemory(
                from: source.row(part.top / down + row) + part.left / across,
                byteCount: part.width / across)
        }
    }
}
