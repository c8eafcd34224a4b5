import Codecs

/// Samples of a plane that are read. The memory is the owner's.
struct SourcePlane {
    /// The first sample of the first row. Samples of more than 8 bits have two bytes in the machine's order.
    let start: UnsafeRawPointer
    /// Bytes from a row to the next one.
    let stride: Int

    /// A row's samples, as bytes.
    func row(_ row: Int) -> UnsafeRawPointer { start + row * stride }
}

/// Samples of a plane that are written. The memory is the owner's.
struct TargetPlane {
    /// As of ``SourcePlane``.
    let start: UnsafeMutableRawPointer
    let stride: Int

    /// A row's samples, as bytes.
    func row(_ row: Int) -> UnsafeMutableRawPointer { start + row * stride }
}

extension SourcePlane {
    init(_ plane: DecodedFrame.Plane) { self.init(start: plane.start, stride: plane.stride) }
}

extension TargetPlane {
    init(_ plane: VideoEncoder.Plane) { self.init(start: plane.start, stride: plane.stride) }
}

extension FrameLayout {
    /// Luma samples to a sample of chroma.
    var across: Int { 1 << chromaShift.x }
    var down: Int { 1 << chromaShift.y }

    /// The same for another picture size.
    func sized(_ width: Int, _ height: Int) -> FrameLayout {
        FrameLayout(
            width: width, height: height, bits: bits, hasChroma: hasChroma,
            chromaShift: chromaShift, matrix: matrix, isFullRange: isFullRange)
    }
}
