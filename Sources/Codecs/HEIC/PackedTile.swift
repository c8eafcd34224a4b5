/// A tile of 9 or 10 bits that waits for those beside it, in 1.25 bytes a sample: the low byte of each, and in a byte the bits above of four.
///
/// libavcodec's frames have two bytes a sample, and a row of large tiles is the most of what a camera's HEIC takes in memory. The samples that
/// come out are those that went in.
final class PackedTile {
    /// A plane: rows of low bytes, each with the high bits behind it.
    private struct Plane {
        let offset: Int, width: Int, height: Int
        var rowBytes: Int { width + (width + 3) / 4 }
    }

    private let planes: [Plane]
    private let memory: UnsafeMutablePointer<UInt8>

    private static let bits = 9...10
    /// Tiles of fewer pixels stay as they are: those of phones have a quarter of a million.
    private static let pixelsMin = 1 << 20

    /// Packs a tile; nil for one of other samples, and for one that is small.
    init?(_ frame: DecodedFrame) {
        let layout = frame.layout
        guard Self.bits.contains(layout.bits), layout.width * layout.height >= Self.pixelsMin
        else { return nil }
        var (planes, bytes) = ([Plane](), 0)
        for plane in frame.planes {
            planes.append(Plane(offset: bytes, width: plane.width, height: plane.height))
            bytes += planes[planes.count - 1].rowBytes * plane.height
        }
        self.planes = planes
        memory = .allocate(capacity: max(1, bytes))
        for (source, plane) in zip(frame.planes, planes) {
            for y in 0..<plane.height {
                let row = (source.start + y * source.stride).assumingMemoryBound(to: UInt16.self)
                Self.pack(row, plane.width, to: memory + plane.offset + y * plane.rowBytes)
            }
        }
    }

    deinit { memory.deallocate() }

    private static func pack(
        _ samples: UnsafePointer<UInt16>, _ count: Int, to low: UnsafeMutablePointer<UInt8>
    ) {
        let high = low + count
        for group in 0..<count / 4 {
            let four = samples + 4 * group
            let (a, b, c, d) = (four[0], four[1], four[2], four[3])
            let bytes = low + 4 * group
            bytes[0] = UInt8(truncatingIfNeeded: a)
            bytes[1] = UInt8(truncatingIfNeeded: b)
            bytes[2] = UInt8(truncatingIfNeeded: c)
            bytes[3] = UInt8(truncatingIfNeeded: d)
            let above = (a >> 8) | ((b >> 8) << 2) | ((c >> 8) << 4) | ((d >> 8) << 6)
            high[group] = UInt8(truncatingIfNeeded: above)
        }
        guard count % 4 > 0 else { return }
        var last: UInt16 = 0
        for x in count / 4 * 4..<count {
            low[x] = UInt8(truncatingIfNeeded: samples[x])
            last |= (samples[x] >> 8) << UInt16(2 * (x % 4))
        }
        high[count / 4] = UInt8(truncatingIfNeeded: last)
    }

    /// The size of a plane in samples.
    func size(of plane: Int) -> (width: Int, height: Int) {
        (planes[plane].width, planes[plane].height)
    }

    /// Writes a part of a plane, row by row without gaps.
    func unpack(
        _ index: Int, columns: Range<Int>, rows: Range<Int>, to target: UnsafeMutablePointer<UInt16>
    ) {
        let plane = planes[index]
        var target = target
        for y in rows {
            let low = memory + plane.offset + y * plane.rowBytes
            let high = low + plane.width
            for x in columns {
                let above = UInt16(high[x >> 2] >> UInt8(2 * (x & 3)) & 3)
                target[x - columns.lowerBound] = UInt16(low[x]) | above << 8
            }
            target += columns.count
        }
    }
}
