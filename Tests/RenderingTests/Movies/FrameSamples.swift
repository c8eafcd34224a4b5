import Edits
import Codecs
import Testing

@testable import Rendering

/// Samples of a frame, in memory of their own.
final class FrameSamples {
    let layout: FrameLayout
    /// Samples more in a row than the picture has.
    private let padding = 13
    private let starts: [UnsafeMutableRawPointer]

    /// - Parameter sample: of a plane, by column and row.
    init(
        _ layout: FrameLayout,
        _ sample: (_ plane: Int, _ x: Int, _ y: Int) -> Int = { _, _, _ in 0 }
    ) {
        self.layout = layout
        let padding = padding
        starts = (0..<3).map { plane in
            let (width, height) = Self.size(plane, layout)
            let count = (width + padding) * height
            let start = UnsafeMutableRawPointer.allocate(
                byteCount: count * layout.sampleBytes, alignment: 64)
            for index in 0..<count {
                let (x, y) = (index % (width + padding), index / (width + padding))
                let code = x < width ? sample(plane, x, y) : 77
                if layout.sampleBytes == 1 {
                    start.storeBytes(of: UInt8(code), toByteOffset: index, as: UInt8.self)
                } else {
                    start.storeBytes(of: UInt16(code), toByteOffset: 2 * index, as: UInt16.self)
                }
            }
            return start
        }
    }

    deinit { for start in starts { start.deallocate() } }

    static func size(_ plane: Int, _ layout: FrameLayout) -> (width: Int, height: Int) {
        guard plane > 0 else { return (layout.width, layout.height) }
        return (
            (layout.width + layout.across - 1) / layout.across,
            (layout.height + layout.down - 1) / layout.down
        )
    }

    private func rowBytes(_ plane: Int) -> Int {
        (Self.size(plane, layout).width + padding) * layout.sampleBytes
    }

    subscript(plane: Int, x: Int, y: Int) -> Int {
        let row = starts[plane] + y * rowBytes(plane)
        return layout.sampleBytes == 1
            ? Int(row.load(fromByteOffset: x, as: UInt8.self))
            : Int(row.load(fromByteOffset: 2 * x, as: UInt16.self))
    }

    var source: [SourcePlane] {
        (0..<3).map { SourcePlane(start: starts[$0], stride: rowBytes($0)) }
    }

    var target: [TargetPlane] {
        (0..<3).map { TargetPlane(start: starts[$0], stride: rowBytes($0)) }
    }

    /// All samples of the picture, plane by plane and row by row.
    var samples: [[Int]] {
        (0..<3).map { plane in
            let (width, height) = Self.size(plane, layout)
            return (0..<width * height).map { self[plane, $0 % width, $0 / width] }
        }
    }

    /// The greatest difference of a sample.
    func difference(from other: FrameSamples) -> Int {
        zip(samples, other.samples).flatMap { zip($0, $1).map { abs($0 - $1) } }.max() ?? 0
    }

    /// The same picture turned, each sample where the turn has it.
    func turned(_ turn: Orientation) -> FrameSamples {
        let size = turn.size(of: PixelSize(width: layout.width, height: layout.height))
        let shift =
            turn.swapsSides
            ? (x: layout.chromaShift.y, y: layout.chromaShift.x) : layout.chromaShift
        let turned = FrameLayout(
            width: size.width, height: size.height, bits: layout.bits, chromaShift: shift)
        return FrameSamples(turned) { plane, x, y in
            let (width, height) = Self.size(plane, layout)
            return switch turn {
            case .upright: self[plane, x, y]
            case .mirrored: self[plane, width - 1 - x, y]
            case .half: self[plane, width - 1 - x, height - 1 - y]
            case .flipped: self[plane, x, height - 1 - y]
            case .transposed: self[plane, y, x]
            case .right: self[plane, y, height - 1 - x]
            case .transversed: self[plane, width - 1 - y, height - 1 - x]
            case .left: self[plane, width - 1 - y, x]
            }
        }
    }

    /// Edits the frame.
    func edited(
        _ filters: [Filter], _ colour: FrameColour, upright: Orientation = .upright,
        lane: FrameEditor.Lane? = nil
    ) throws -> FrameSamples {
        let editor = try FrameEditor(
            Recipe(filters: filters), layout: layout, colour: colour, upright: upright)
        if let lane { #expect(editor.lane == lane) }
        let result = FrameSamples(editor.result)
        try editor.edit(source, into: result.target)
        return result
    }
}
