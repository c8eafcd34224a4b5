import Edits
import Files
import PhotoFiles
import Codecs

/// Writes the JPEG of a gain map from rows of codes: grey, or colours without chroma subsampling.
final class GainMapWriter {
    private let writer: JPEGWriter
    private let planes: JPEGPlanes
    private let target: OpenFile
    private let channels: Int
    private let size: (width: Int, height: Int)
    private let start: Int
    private var row = 0

    /// Higher than a photo's: an error in a code is an error in light, and maps are small.
    private static let quality = 95

    /// Begins a map after the current contents of a file.
    init(
        to target: OpenFile, width: Int, height: Int, channels: Int, _ metadata: GainMapMetadata
    ) throws {
        start = try target.length()
        let layout = JPEGLayout(
            width: width, height: height, colour: channels == 1 ? .grey : .ycbcr,
            sampling: .init(repeating: .init(1, 1), count: channels))
        writer = try JPEGWriter(
            target.descriptor, from: start, layout: layout,
            coding: JPEGCoding(quality: Self.quality, isOptimised: true),
            markers: Self.markers(metadata))
        planes = JPEGPlanes(layout)
        (self.target, self.channels, size) = (target, channels, (width, height))
    }

    /// Returns the bytes of a map's JPEG.
    ///
    /// - Parameter scratch: a file for temporary use. Its contents are the same afterwards.
    static func jpeg(
        _ pixels: GainMapPixels, _ metadata: GainMapMetadata, scratch: OpenFile
    ) throws -> [UInt8] {
        let writer = try GainMapWriter(
            to: scratch, width: pixels.width, height: pixels.height, channels: pixels.channels,
            metadata)
        try pixels.codes.withUnsafeBufferPointer { codes throws(JPEGError) in
            for row in 0..<pixels.height {
                let start = row * pixels.width * pixels.channels
                try writer.write { column, channel in
                    codes[start + column * pixels.channels + channel]
                }
            }
        }
        return try writer.finish()
    }

    /// Writes the next row, given the code of a channel at a column.
    func write(_ code: (_ column: Int, _ channel: Int) -> UInt8) throws(JPEGError) {
        let line = row % planes.planes[0].mcuHeight
        if channels == 1 {
            let target = planes.planes[0].row(line, of: 0)
            for column in 0..<size.width { target[column] = code(column, 0) }
        } else {
            for column in 0..<size.width {
                let colour = (code(column, 0), code(column, 1), code(column, 2))
                let stored = Self.stored(Float(colour.0), Float(colour.1), Float(colour.2))
                for channel in 0..<3 {
                    planes.planes[channel].row(line, of: 0)[column] = stored[channel]
                }
            }
        }
        row += 1
        if row == size.height || row % planes.planes[0].mcuHeight == 0 {
            planes.fillEdges(ofPhoto: (row - 1) / planes.planes[0].mcuHeight)
            try writer.writePlanes(planes)
        }
    }

    /// Converts to YCbCr by the matrix of JFIF 1.02, which is that of BT.601.
    private static func stored(_ red: Float, _ green: Float, _ blue: Float) -> [UInt8] {
        let luma = 0.299 * red + 0.587 * green + 0.114 * blue
        return [luma, 128 + (blue - luma) / 1.772, 128 + (red - luma) / 1.402].map {
            UInt8(min(max($0, 0), 255).rounded())
        }
    }

    /// Returns the bytes of the JPEG, after the last row, and truncates the file to its former length.
    ///
    /// - Throws: `JPEGError` or `Failure`.
    func finish() throws -> [UInt8] {
        precondition(row == size.height, "\(row) rows of \(size.height)")
        try writer.finish()
        return try Self.cutBytes(from: target, behind: start)
    }

    /// The segments in the head of a map's JPEG.
    static func markers(_ metadata: GainMapMetadata) -> [JPEGMarker] {
        UltraHDR.mapSegments(metadata).map { JPEGMarker(code: $0.code, bytes: $0.bytes) }
    }

    /// Returns the last bytes of a scratch file, and truncates it.
    static func cutBytes(from scratch: OpenFile, behind start: Int = 0) throws(Failure) -> [UInt8] {
        let bytes = scratch.bytes(from: start, count: try scratch.length() - start)
        try scratch.cut(to: start)
        return bytes
    }
}
