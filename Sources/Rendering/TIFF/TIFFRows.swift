import CCodecs
import PhotoFiles

/// Rows of a TIFF's picture as they are stored, decoded by libtiff from top to bottom.
///
/// A row of tiles is decoded together and kept. A picture in strips is decoded row by row; if each channel is stored by itself, each
/// needs a decoder of its own. Only the wanted channels of such a picture are read.
final class TIFFRows {
    /// The most bytes of a tile or of a row; tiles of most programs have at most 512 KB.
    private static let blockBytesMax = 256 << 20

    private let shape: minilab_tiff_shape
    /// One decoder, or one for each wanted channel of strips.
    private var decoders: [OpaquePointer] = []
    /// The wanted channels that are stored by themselves; channel 0 for all channels together.
    private let channels: [Int]
    private let tile: UnsafeMutableRawBufferPointer
    /// The decoded rows, one channel after the other.
    private let rows: UnsafeMutableRawBufferPointer
    private var y = 0

    /// The rows that are decoded together: those of a tile, or one.
    private let rowsAtOnce: Int
    private var channelBytes: Int { rowsAtOnce * Int(shape.line_bytes) }

    /// Opens the picture.
    ///
    /// - Parameter wanted: the channels that are read.
    /// - Returns: nil if libtiff cannot read the directory, or if a tile or row is too large.
    init?(_ descriptor: Int32, _ picture: TIFFPicture, wanted: [Int]) {
        var shape = minilab_tiff_shape()
        guard let first = minilab_tiff_open(descriptor, UInt64(picture.offset), &shape) else {
            return nil
        }
        self.shape = shape
        rowsAtOnce = max(1, min(Int(shape.tile_height), Int(shape.height)))
        let isPlanar = shape.is_planar != 0
        channels = isPlanar ? wanted : [0]
        decoders = [first]
        let isKnown =
            Int(shape.samples) == picture.samples && Int(shape.bits) == picture.bits
            && Int(shape.width) == picture[.width] && Int(shape.height) == picture[.height]
            && isPlanar == picture.isPlanar
        let samples = isPlanar ? 1 : picture.samples
        let lineBytes = (Int(shape.width) * samples * Int(shape.bits) + 7) / 8
        let isFit =
            shape.line_bytes == lineBytes && lineBytes <= Self.blockBytesMax
            && shape.tile_bytes <= Self.blockBytesMax
            && channels.count * rowsAtOnce * lineBytes <= Self.blockBytesMax
        let isTiled = shape.tile_height > 0
        while !isTiled, isKnown, isFit, decoders.count < channels.count {
            var same = minilab_tiff_shape()
            guard let next = minilab_tiff_open(descriptor, UInt64(picture.offset), &same) else {
                break
            }
            decoders.append(next)
        }
        guard isKnown, isFit, isTiled || decoders.count == channels.count else {
            tile = .allocate(byteCount: 0, alignment: 16)
            rows = .allocate(byteCount: 0, alignment: 16)
            return nil
        }
        tile = .allocate(byteCount: Int(shape.tile_bytes), alignment: 16)
        rows = .allocate(byteCount: channels.count * rowsAtOnce * lineBytes, alignment: 16)
    }

    deinit {
        for decoder in decoders { minilab_tiff_close(decoder) }
        tile.deallocate()
        rows.deallocate()
    }

    /// Decodes the next row.
    ///
    /// - Parameter receive: receives the row of each wanted channel that is stored by itself, or of all channels together.
    /// - Returns: an error, or nil.
    func next(_ receive: ([UnsafeRawBufferPointer]) -> Void) -> String? {
        let line = y % rowsAtOnce
        if line == 0, let problem = decode(from: y) { return problem }
        receive(
            channels.indices.map { index in
                let start = index * channelBytes + line * Int(shape.line_bytes)
                return UnsafeRawBufferPointer(rebasing: rows[start..<start + Int(shape.line_bytes)])
            })
        y += 1
        return nil
    }

    private func decode(from first: Int) -> String? {
        for (index, channel) in channels.enumerated() {
            let start = index * channelBytes
            let target = UnsafeMutableRawBufferPointer(rebasing: rows[start..<start + channelBytes])
            let isRead =
                shape.tile_height == 0
                ? minilab_tiff_read_line(
                    decoders[index], UInt32(first), UInt16(channel), target.baseAddress,
                    Int(shape.line_bytes)) == 0
                : readTiles(of: channel, from: first, into: target)
            guard isRead else {
                return "tiff: row \(first) of channel \(channel) cannot be read"
            }
        }
        return nil
    }

    private func readTiles(
        of channel: Int, from first: Int, into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let (width, lineBytes) = (Int(shape.tile_width), Int(shape.line_bytes))
        let tileLineBytes = Int(shape.tile_line_bytes)
        for (number, left) in stride(from: 0, to: Int(shape.width), by: width).enumerated() {
            let status = minilab_tiff_read_tile(
                decoders[0], UInt32(left), UInt32(first), UInt16(channel), tile.baseAddress,
                tile.count)
            guard status == 0 else { return false }
            // Tiles are a multiple of 16 pixels wide, so each begins at a whole byte.
            let start = number * tileLineBytes
            let count = min(tileLineBytes, lineBytes - start)
            for y in 0..<min(rowsAtOnce, Int(shape.height) - first) where count > 0 {
                let source = tile[y * tileLineBytes..<y * tileLineBytes + count]
                UnsafeMutableRawBufferPointer(
                    rebasing: target[y * lineBytes + start..<y * lineBytes + start + count]
                ).copyMemory(from: UnsafeRawBufferPointer(rebasing: source))
            }
        }
        return true
    }
}
