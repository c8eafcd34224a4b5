import GainMaps
import JPEG

/// The codes of a gain map in memory, as the file has them: not turned.
///
/// A reader of maps in other containers makes one of these too.
struct GainMapPixels {
    let width, height: Int
    /// 1 or 3, interleaved.
    let channels: Int
    let codes: [UInt8]

    /// Makes them of codes.
    init(width: Int, height: Int, channels: Int, codes: [UInt8]) {
        precondition(codes.count == width * height * channels, "\(codes.count) codes")
        (self.width, self.height, self.channels, self.codes) = (width, height, channels, codes)
    }

    /// Decodes the map of a JPEG file.
    ///
    /// - Parameter eighths: of its size; 8 is all of it.
    init(
        _ file: PhotoFile, _ map: JPEGCompanions.Map, eighths: Int = 8
    ) throws(JPEGError) {
        let reader = try JPEGReader(
            file.descriptor, from: map.start,
            limits: file.jpegLimits(coefficientBytesMax: 2 * Beside.samplesMax))
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
        let stored = Array(UnsafeBufferPointer(start: memory, count: count))
        let table = map.codes
        self.init(
            width: shape.width, height: shape.height, channels: shape.channels,
            codes: table.map { table in stored.map { table[Int($0)] } } ?? stored)
    }
}
