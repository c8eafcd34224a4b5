import Codecs
import Edits
import Files
import PhotoFiles

/// The decoded codes of a gain map in memory. Those of a JPEG are not turned.
struct GainMapPixels {
    let width, height: Int
    /// 1 or 3, interleaved.
    let channels: Int
    let codes: [UInt8]

    /// Decodes a map of a file.
    ///
    /// - Throws: `JPEGError`, `HEIFProblem`, `HEICError`.
    init(_ file: PhotoFile, _ map: GainMap) throws {
        let stored =
            switch map.location {
            case .jpeg(let bytes): try Self.decoded(file, bytes, eighths: 8)
            case .item(let item): try Self.decoded(file, item: item)
            }
        self = map.codes.map(stored.changed) ?? stored
    }

    init(width: Int, height: Int, channels: Int, codes: [UInt8]) {
        precondition(codes.count == width * height * channels, "\(codes.count) codes")
        (self.width, self.height, self.channels, self.codes) = (width, height, channels, codes)
    }

    private func changed(by table: [UInt8]) -> GainMapPixels {
        GainMapPixels(
            width: width, height: height, channels: channels, codes: codes.map { table[Int($0)] })
    }

    /// Decodes a whole map to detect faults.
    ///
    /// - Returns: the codes of an item, because keeping them costs no more than checking them; nil for a JPEG, which is decoded at
    ///   an eighth of its size.
    /// - Throws: `JPEGError`, `HEIFProblem`, `HEICError`.
    static func checked(_ map: GainMap, of file: PhotoFile) throws -> GainMapPixels? {
        guard let bytes = map.jpeg else { return try GainMapPixels(file, map) }
        _ = try decoded(file, bytes, eighths: 1)
        return nil
    }

    /// Returns the map cropped or turned.
    ///
    /// - Parameter geometry: lossless.
    func moved(_ geometry: Geometry) -> GainMapPixels {
        let size = geometry.size
        // Coordinates count from the bottom left; a pixel's coordinate is its centre. Steps along a row and a column are whole.
        func index(_ x: Int, _ y: Int) -> Int {
            let at = geometry.toSource(
                Point(Double(x) + 0.5, Double(size.height - 1 - y) + 0.5))
            return (height - 1 - Int(at.y.rounded(.down))) * width + Int(at.x.rounded(.down))
        }
        let start = index(0, 0)
        let across = size.width > 1 ? index(1, 0) - start : 0
        let down = size.height > 1 ? index(0, 1) - start : 0
        let moved = [UInt8](unsafeUninitializedCapacity: size.pixels * channels) { target, count in
            codes.withUnsafeBufferPointer { source in
                var out = 0
                for y in 0..<size.height {
                    var from = (start + y * down) * channels
                    for _ in 0..<size.width {
                        for channel in 0..<channels {
                            target[out + channel] = source[from + channel]
                        }
                        out += channels
                        from += across * channels
                    }
                }
            }
            count = size.pixels * channels
        }
        return GainMapPixels(
            width: size.width, height: size.height, channels: channels, codes: moved)
    }

    /// - Parameter eighths: the scale in eighths; 8 is full size.
    private static func decoded(_ file: PhotoFile, _ range: Range<Int>, eighths: Int)
        throws(JPEGError) -> GainMapPixels
    {
        let reader = try JPEGReader(
            file.descriptor, from: range.lowerBound,
            limits: file.jpegLimits(coefficientBytesMax: 2 * PhotoCompanions.samplesMax))
        var memory: UnsafeMutablePointer<UInt8>?
        defer { memory?.deallocate() }
        var shape = (width: 0, height: 0, channels: 0)
        try reader.readRows(eighths: eighths) { width, height, bands in
            shape = (width, height, bands)
            let start = UnsafeMutablePointer<UInt8>.allocate(capacity: width * height * bands)
            memory = start
            return start
        }
        let count = shape.width * shape.height * shape.channels
        return GainMapPixels(
            width: shape.width, height: shape.height, channels: shape.channels,
            codes: Array(UnsafeBufferPointer(start: memory, count: count)))
    }

    // MARK: HEIC

    private static func rows(of file: PhotoFile, _ item: Int) throws -> (HEICRows, isGrey: Bool) {
        var window = file.window
        guard let meta = HEIFMeta(of: &window) else {
            throw HEIFProblem.damaged("no list of items")
        }
        let photo = try HEIFStill(meta, in: &window)
        let still = try HEIFStill(gainMap: item, of: photo, meta, in: &window)
        return (
            try HEICRows(still, in: window), still.picture.configuration.chromaFormat == 0
        )
    }

    /// Decodes an item. Codes of more than 8 bits are rounded to 8.
    private static func decoded(_ file: PhotoFile, item: Int) throws -> GainMapPixels {
        let (rows, isGrey) = try rows(of: file, item)
        let channels = isGrey ? 1 : 3
        let row = UnsafeMutableRawPointer.allocate(byteCount: rows.rowBytes, alignment: 64)
        defer { row.deallocate() }
        var codes: [UInt8] = []
        codes.reserveCapacity(rows.width * rows.height * channels)
        for _ in 0..<rows.height {
            try rows.makeRow(into: row)
            for column in 0..<rows.width {
                for channel in 0..<channels {
                    let index = rows.bands * column + channel
                    codes.append(
                        rows.bitsPerSample == 8
                            ? row.load(fromByteOffset: index, as: UInt8.self)
                            : UInt8(
                                (UInt32(row.load(fromByteOffset: 2 * index, as: UInt16.self)) + 128)
                                    / 257))
                }
            }
        }
        return GainMapPixels(
            width: rows.width, height: rows.height, channels: channels, codes: codes)
    }
}

extension HEICRows {
    fileprivate var rowBytes: Int { width * bands * bitsPerSample / 8 }
}

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
