import Edits
import Codecs

/// Small copies of JPEGs, decoded at a reduced size.
enum JPEGCopy {
    /// The scales, in eighths, that are worth using. Decoding 24 MP takes 25, 30, 45, 36, 78, 113, 152 and 80 ms at 1 to 8 eighths
    /// (1, 2, 4 and 8 have SIMD), and shrinking the result takes 11 ns per pixel.
    private static let eighths = [1, 2, 3, 4, 5, 6, 8]

    /// A picture that covers a part of itself: see ``Vips/Image/resized(width:height:covered:)``.
    struct Scaled {
        let image: Image
        let covered: (width: Double, height: Double)
    }

    /// Decodes a photo at the smallest scale whose result is not smaller than the requested size.
    ///
    /// - Parameter eighthsMin: the smallest scale.
    /// - Returns: the picture in memory, without metadata; nil for a photo that is neither grey nor RGB, or that is so large that
    ///   it should be streamed.
    static func image(_ file: PhotoFile, atLeast size: PixelSize, eighthsMin: Int = 1) throws
        -> Scaled?
    {
        let reader = try JPEGReader(
            file.descriptor,
            limits: file.jpegLimits(coefficientBytesMax: PlanesLane.coefficientBytesMax))
        let layout = reader.header.layout
        let eighths =
            eighths.first {
                $0 >= eighthsMin && layout.width * $0 >= 8 * size.width
                    && layout.height * $0 >= 8 * size.height
            } ?? 8
        let pixels = (layout.width * eighths + 7) / 8 * ((layout.height * eighths + 7) / 8)
        let isKnown = [.grey, .rgb, .ycbcr].contains(layout.colour)
        guard isKnown, 3 * pixels <= Photo.memorySpoolBytesMax else { return nil }
        var memory: PixelMemory?
        var shape = (width: 0, height: 0, bands: 0)
        try reader.readRows(eighths: eighths) { width, height, bands in
            let room = PixelMemory(width * height * bands)
            (memory, shape) = (room, (width, height, bands))
            return room.start
        }
        guard let memory else { return nil }
        return Scaled(
            image: try Image.over(
                UnsafeRawBufferPointer(start: memory.start, count: memory.count), of: memory,
                width: shape.width, height: shape.height, bands: shape.bands, format: .uchar,
                interpretation: shape.bands == 1 ? "b-w" : "srgb"),
            covered: (Double(layout.width * eighths) / 8, Double(layout.height * eighths) / 8))
    }
}

/// Bytes on the heap.
///
/// `@unchecked Sendable` is safe because the bytes are never written after they are filled.
final class PixelMemory: @unchecked Sendable {
    let start: UnsafeMutablePointer<UInt8>
    let count: Int

    init(_ count: Int) {
        start = .allocate(capacity: count)
        self.count = count
    }

    deinit { start.deallocate() }
}
