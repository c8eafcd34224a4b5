public import PhotoFiles

/// A small copy of a picture, computed from its planes while they are encoded: each sample is the mean of the samples that it
/// covers.
///
/// It is referenced by `thmb` and 416 pixels long, the same as phones write.
public final class Thumbnail {
    private static let side = 416
    /// The smallest side that x265 encodes.
    private static let sideMin = 64

    /// Its description for boxes: one item.
    public let picture: HEIFCodedPicture
    private var planes: [AveragePlane]
    private let coding: HEICCoding

    /// - Returns: nil for a picture that is much longer than wide.
    init?(of whole: HEIFCodedPicture, _ coding: HEICCoding, colour: [HEIFProperty])
        throws(HEICError)
    {
        let longest = max(whole.width, whole.height)
        func side(_ length: Int) -> Int { (length * Self.side / longest + 1) / 2 * 2 }
        let (width, height) = (side(whole.width), side(whole.height))
        guard longest > Self.side, min(width, height) >= Self.sideMin else { return nil }
        self.coding = coding
        let configuration: HEVCConfiguration
        do throws(CodecError) {
            // The encoder takes several megabytes, so it is opened again when it is needed.
            configuration = try TileEncoder(coding, width: width, height: height).configuration
        } catch {
            throw .codec(error)
        }
        picture = HEIFCodedPicture(
            width: width, height: height, tileWidth: width, tileHeight: height,
            configuration: configuration.bytes, bits: whole.bits, colour: colour)
        planes = (0..<coding.planeCount).map { index in
            let shift = index == 0 ? 0 : coding.shift
            func shifted(_ length: Int) -> Int { (length + (1 << shift) - 1) >> shift }
            return AveragePlane(
                from: (shifted(whole.width), shifted(whole.height)),
                to: (width >> shift, height >> shift))
        }
    }

    /// Adds the next rows of planes.
    ///
    /// - Parameter rows: in rows of luma.
    func add(_ band: BandPlanes, rows: Int) {
        for index in planes.indices {
            let shift = index == 0 ? 0 : coding.shift
            for row in 0..<(rows + (1 << shift) - 1) >> shift {
                let start = UnsafeRawPointer(band.planes[index].row(row))
                if coding.sampleBytes == 1 {
                    planes[index].add(start.assumingMemoryBound(to: UInt8.self))
                } else {
                    planes[index].add(start.assumingMemoryBound(to: UInt16.self))
                }
            }
        }
    }

    /// Encodes the thumbnail, after all rows are added.
    public func coded() throws(HEICError) -> [UInt8] {
        do throws(CodecError) {
            let encoder = try TileEncoder(coding, width: picture.width, height: picture.height)
            return try encoder.code { targets in
                for (plane, target) in zip(planes, targets) {
                    for row in 0..<target.height {
                        let start = target.start + row * target.stride
                        let samples = plane.samples[(row * plane.width)...]
                        for (column, sample) in samples.prefix(target.width).enumerated() {
                            if coding.sampleBytes == 1 {
                                start.storeBytes(
                                    of: UInt8(truncatingIfNeeded: sample), toByteOffset: column,
                                    as: UInt8.self)
                            } else {
                                start.storeBytes(
                                    of: sample, toByteOffset: 2 * column, as: UInt16.self)
                            }
                        }
                    }
                }
            }
        } catch {
            throw .codec(error)
        }
    }
}

/// Means of a plane's samples.
private struct AveragePlane {
    let width: Int
    private(set) var samples: [UInt16] = []
    private let source: (width: Int, height: Int)
    private let height: Int
    /// Sums of the columns over the rows that make the next row.
    private var sums: [UInt32]
    private var summed = 0
    private var added = 0

    init(from source: (width: Int, height: Int), to size: (width: Int, height: Int)) {
        self.source = source
        (width, height) = size
        sums = [UInt32](repeating: 0, count: source.width)
        samples.reserveCapacity(width * height)
    }

    mutating func add<Sample: FixedWidthInteger>(_ row: UnsafePointer<Sample>) {
        sums.withUnsafeMutableBufferPointer { sums in
            for column in sums.indices {
                sums[column] &+= UInt32(truncatingIfNeeded: row[column])
            }
        }
        added += 1
        summed += 1
        let made = samples.count / width
        if added == (made + 1) * source.height / height { makeRow() }
    }

    private mutating func makeRow() {
        for column in 0..<width {
            let first = column * source.width / width
            let end = max(first + 1, (column + 1) * source.width / width)
            let sum = sums[first..<end].reduce(UInt32(0), &+)
            let count = UInt32((end - first) * summed)
            samples.append(UInt16(truncatingIfNeeded: (sum + count / 2) / count))
        }
        for column in sums.indices { sums[column] = 0 }
        summed = 0
    }
}
