import Edits
import Codecs

/// A plane to read. The caller owns the memory.
struct SourcePlane {
    /// The first sample of the first row. Samples of more than 8 bits have two bytes in the machine's byte order.
    let start: UnsafeRawPointer
    /// Bytes from one row to the next.
    let stride: Int

    /// Returns a row's samples, as bytes.
    func row(_ row: Int) -> UnsafeRawPointer { start + row * stride }
}

/// A plane to write. The caller owns the memory.
struct TargetPlane {
    /// The first sample of the first row, as in ``SourcePlane``.
    let start: UnsafeMutableRawPointer
    let stride: Int

    /// Returns a row's samples, as bytes.
    func row(_ row: Int) -> UnsafeMutableRawPointer { start + row * stride }
}

extension SourcePlane {
    init(_ plane: DecodedFrame.Plane) { self.init(start: plane.start, stride: plane.stride) }
}

extension TargetPlane {
    init(_ plane: VideoEncoder.Plane) { self.init(start: plane.start, stride: plane.stride) }
}

extension FrameLayout {
    /// Luma samples per chroma sample.
    var across: Int { 1 << chromaShift.x }
    var down: Int { 1 << chromaShift.y }

    /// Returns the same layout for another picture size, with all that is known of its colours.
    func sized(_ size: PixelSize, _ colour: FrameColour.Declaration) -> FrameLayout {
        FrameLayout(
            width: size.width, height: size.height, bits: bits, hasChroma: hasChroma,
            chromaShift: chromaShift, primaries: colour.primaries, transfer: colour.transfer,
            matrix: colour.matrix, isFullRange: colour.isFullRange)
    }
}
