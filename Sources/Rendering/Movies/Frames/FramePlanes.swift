import Edits
import Codecs

/// Edits frames in planes: a part is copied, or edited code by code.
struct FramePlanes {
    /// The change of codes.
    enum Program {
        case none
        /// 8-bit codes: some rows at a time are copied, and edited in place while they are in the first-level cache.
        case bytes(PlaneProgram)
        /// 10-bit codes, edited while they are copied.
        case deep(DeepPlaneProgram)
    }

    private let area: PixelArea
    private let layout: FrameLayout
    private let program: Program

    /// Rows of chroma that are copied and edited together: 46 KB of 1080p, luma included.
    private static let rows = 8

    /// - Parameter area: in luma samples, a whole number of chroma samples.
    init(_ area: PixelArea, _ layout: FrameLayout, _ program: Program) {
        (self.area, self.layout, self.program) = (area, layout, program)
    }

    func edit(_ source: [SourcePlane], into target: [TargetPlane]) {
        let (across, down) = (layout.across, layout.down)
        let chromaRows = area.height / down
        for first in stride(from: 0, to: chromaRows, by: Self.rows) {
            let rows = min(Self.rows, chromaRows - first)
            if case .deep(let program) = program {
                program.edit(first..<first + rows) { deepRows($0, source, target) }
                continue
            }
            copy(source[0], target[0], from: first * down, rows: rows * down, across: 1, down: 1)
            copy(source[1], target[1], from: first, rows: rows, across: across, down: down)
            copy(source[2], target[2], from: first, rows: rows, across: across, down: down)
            guard case .bytes(let program) = program else { continue }
            func samples(_ plane: Int, _ row: Int) -> UnsafeMutablePointer<UInt8> {
                target[plane].row(row).assumingMemoryBound(to: UInt8.self)
            }
            // An encoder's planes of chroma have equal strides.
            program.run(
                PlaneProgram.Band(
                    luma: samples(0, first * down), blue: samples(1, first), red: samples(2, first),
                    lumaStride: target[0].stride, chromaStride: target[1].stride,
                    columns: area.width / across, rows: rows, across: across, down: down,
                    top: layout.height - area.top - first * down))
        }
    }

    private func deepRows(
        _ row: Int, _ source: [SourcePlane], _ target: [TargetPlane]
    ) -> DeepRows {
        let (across, down) = (layout.across, layout.down)
        let luma = row * down
        let lower = luma + down - 1
        func samples(_ plane: Int, _ row: Int) -> UnsafePointer<UInt16> {
            let (top, left) =
                plane == 0 ? (area.top, area.left) : (area.top / down, area.left / across)
            return source[plane].row(top + row).assumingMemoryBound(to: UInt16.self) + left
        }
        func newSamples(_ plane: Int, _ row: Int) -> UnsafeMutablePointer<UInt16> {
            target[plane].row(row).assumingMemoryBound(to: UInt16.self)
        }
        return DeepRows(
            luma: samples(0, luma), below: samples(0, lower), blue: samples(1, row),
            red: samples(2, row), newLuma: newSamples(0, luma), newBelow: newSamples(0, lower),
            newBlue: newSamples(1, row), newRed: newSamples(2, row), count: area.width / across)
    }

    private func copy(
        _ source: SourcePlane, _ target: TargetPlane, from first: Int, rows: Int, across: Int,
        down: Int
    ) {
        for row in first..<first + rows {
            target.row(row).copyMemory(
                from: source.row(area.top / down + row) + area.left / across * layout.sampleBytes,
                byteCount: area.width / across * layout.sampleBytes)
        }
    }
}
