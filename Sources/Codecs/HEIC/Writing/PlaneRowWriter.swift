/// Converts rows of red, green and blue to rows of planes: full range, by the matrix of ITU-R BT.601.
///
/// Chroma of 4:2:0 is that of the mean of four pixels; pixels beyond the picture repeat its outermost ones. Values are rounded
/// once. Source: ITU-T T.871 §7, which is H.273's matrix 6 with full range.
struct PlaneRowWriter {
    private let coding: HEICCoding
    private let samples: HEICSamples
    private let bands: Int
    private let width: Int, height: Int
    /// Sums of red, green and blue over two columns each, of the previous row.
    private let sums: Scratch

    init(_ coding: HEICCoding, _ samples: HEICSamples, bands: Int, width: Int, height: Int) {
        (self.coding, self.samples, self.bands) = (coding, samples, bands)
        (self.width, self.height) = (width, height)
        sums = Scratch(coding.chroma == .half ? 3 * ((width + 1) / 2) : 0)
    }

    /// Writes the samples of a row.
    ///
    /// - Parameters:
    ///   - pixels: of 8 bits for codes of 8 bits, otherwise of 16.
    ///   - y: the row of the picture.
    ///   - row: the row of the planes.
    func write(_ pixels: UnsafeRawPointer, y: Int, to planes: BandPlanes, row: Int) {
        if coding.bits == 8 {
            write(pixels.assumingMemoryBound(to: UInt8.self), most: 255, y, planes, row)
        } else {
            write(pixels.assumingMemoryBound(to: UInt16.self), most: 65_535, y, planes, row)
        }
    }

    private func write<Sample: FixedWidthInteger & UnsignedInteger>(
        _ pixels: UnsafePointer<Sample>, most: Float, _ y: Int, _ band: BandPlanes, _ row: Int
    ) {
        let levels = Float((1 << coding.bits) - 1)
        let scale = levels / most
        func plane(_ index: Int, _ row: Int) -> UnsafeMutablePointer<Sample> {
            band.planes[index].row(row).assumingMemoryBound(to: Sample.self)
        }
        let luma = plane(0, row)
        guard case .colour = samples else {
            guard case .one(let channel) = samples else { return }
            for x in 0..<width {
                luma[x] = Sample(Float(pixels[x &* bands &+ channel]) * scale + 0.5)
            }
            return
        }
        writeLuma(pixels, luma, scale)
        switch coding.chroma {
        case .none: break
        case .full:
            let (blue, red) = (plane(1, row), plane(2, row))
            writeFullChroma(pixels, blue, red, scale, levels)
        case .half:
            let isLast = y == height - 1
            if y & 1 == 0 { sumColumns(pixels, isFirst: true) }
            // The last of an odd number of rows counts twice.
            if y & 1 == 1 || isLast { sumColumns(pixels, isFirst: false) }
            guard y & 1 == 1 || isLast else { return }
            let (blue, red) = (plane(1, row >> 1), plane(2, row >> 1))
            writeHalfChroma(blue, red, scale / 4, levels)
        }
    }

    private static let weights: (red: Float, green: Float, blue: Float) = (0.299, 0.587, 0.114)

    private func writeLuma<Sample: FixedWidthInteger & UnsignedInteger>(
        _ pixels: UnsafePointer<Sample>, _ luma: UnsafeMutablePointer<Sample>, _ scale: Float
    ) {
        if Sample.self == UInt8.self {
            // In units of 1/65,536: exact for bytes, and vectorized by the compiler.
            for x in 0..<width {
                let pixel = pixels + x &* bands
                let (red, green, blue) = (
                    Int32(truncatingIfNeeded: pixel[0]), Int32(truncatingIfNeeded: pixel[1]),
                    Int32(truncatingIfNeeded: pixel[2])
                )
                let sum = 19_595 &* red &+ 38_470 &* green &+ 7_471 &* blue &+ 32_768
                luma[x] = Sample(truncatingIfNeeded: sum >> 16)
            }
            return
        }
        let weights = Self.weights
        let (byRed, byGreen, byBlue) = (
            weights.red * scale, weights.green * scale, weights.blue * scale
        )
        for x in 0..<width {
            let pixel = pixels + x &* bands
            let code =
                Float(pixel[0]) * byRed + Float(pixel[1]) * byGreen + Float(pixel[2]) * byBlue
            luma[x] = Sample(truncatingIfNeeded: Int32(code + 0.5))
        }
    }

    private func sumColumns<Sample: FixedWidthInteger & UnsignedInteger>(
        _ pixels: UnsafePointer<Sample>, isFirst: Bool
    ) {
        let pairs = width / 2
        let out = sums.start
        func add(_ index: Int, _ sum: Int32) {
            out[index] = isFirst ? sum : out[index] &+ sum
        }
        for x in 0..<pairs {
            let pixel = pixels + x &* 2 &* bands
            for channel in 0..<3 {
                add(
                    3 &* x &+ channel,
                    Int32(truncatingIfNeeded: pixel[channel])
                        &+ Int32(truncatingIfNeeded: pixel[bands &+ channel]))
            }
        }
        guard width & 1 == 1 else { return }
        let pixel = pixels + (width - 1) &* bands
        for channel in 0..<3 {
            add(3 &* pairs &+ channel, 2 &* Int32(truncatingIfNeeded: pixel[channel]))
        }
    }

    private func writeHalfChroma<Sample: FixedWidthInteger & UnsignedInteger>(
        _ blue: UnsafeMutablePointer<Sample>, _ red: UnsafeMutablePointer<Sample>, _ scale: Float,
        _ levels: Float
    ) {
        let factors = Factors(scale, levels)
        for x in 0..<(width + 1) / 2 {
            let sum = sums.start + 3 &* x
            let codes = factors.codes(Float(sum[0]), Float(sum[1]), Float(sum[2]))
            blue[x] = Sample(truncatingIfNeeded: codes.blue)
            red[x] = Sample(truncatingIfNeeded: codes.red)
        }
    }

    private func writeFullChroma<Sample: FixedWidthInteger & UnsignedInteger>(
        _ pixels: UnsafePointer<Sample>, _ blue: UnsafeMutablePointer<Sample>,
        _ red: UnsafeMutablePointer<Sample>, _ scale: Float, _ levels: Float
    ) {
        let factors = Factors(scale, levels)
        for x in 0..<width {
            let pixel = pixels + x &* bands
            let codes = factors.codes(Float(pixel[0]), Float(pixel[1]), Float(pixel[2]))
            blue[x] = Sample(truncatingIfNeeded: codes.blue)
            red[x] = Sample(truncatingIfNeeded: codes.red)
        }
    }

    /// The weights of red, green and blue in both differences.
    private struct Factors {
        let blueByRed, blueByGreen, redByGreen, redByBlue, half: Float
        let zero, levels: Float

        init(_ scale: Float, _ levels: Float) {
            let weights = PlaneRowWriter.weights
            half = scale / 2
            blueByRed = -scale * weights.red / (2 * (1 - weights.blue))
            blueByGreen = -scale * weights.green / (2 * (1 - weights.blue))
            redByGreen = -scale * weights.green / (2 * (1 - weights.red))
            redByBlue = -scale * weights.blue / (2 * (1 - weights.red))
            // No difference is 128 of 255, and 512 of 1,023; the added half rounds.
            zero = (levels + 1) / 2 + 0.5
            self.levels = levels
        }

        func codes(_ red: Float, _ green: Float, _ blue: Float) -> (blue: Int32, red: Int32) {
            let b = red * blueByRed + green * blueByGreen + blue * half + zero
            let r = red * half + green * redByGreen + blue * redByBlue + zero
            return (Int32(min(levels, b)), Int32(min(levels, r)))
        }
    }
}

/// Planes of a row of tiles to be encoded.
///
/// Rows have the length of all tiles. The part of tiles beyond the picture repeats its outermost samples, which costs few bits and
/// causes no visible edge.
final class BandPlanes {
    struct Plane {
        let start: UnsafeMutableRawPointer
        /// The size of the whole tiles in samples, and that of the picture.
        let width: Int, height: Int
        let used: Int
        let rowBytes: Int

        func row(_ row: Int) -> UnsafeMutableRawPointer { start + row * rowBytes }
    }

    let planes: [Plane]
    private let sampleBytes: Int
    private let shift: Int

    /// - Parameters:
    ///   - width: the picture's width.
    ///   - columns: tiles in a row.
    init(_ coding: HEICCoding, width: Int, columns: Int, tileWidth: Int, tileHeight: Int) {
        sampleBytes = coding.sampleBytes
        shift = coding.shift
        planes = (0..<coding.planeCount).map { index in
            let shift = index == 0 ? 0 : coding.shift
            let (whole, rows) = (columns * tileWidth >> shift, tileHeight >> shift)
            let rowBytes = whole * coding.sampleBytes
            let start = UnsafeMutableRawPointer.allocate(
                byteCount: rowBytes * rows, alignment: 64)
            start.initializeMemory(as: UInt8.self, repeating: 0, count: rowBytes * rows)
            return Plane(
                start: start, width: whole, height: rows, used: (width + (1 << shift) - 1) >> shift,
                rowBytes: rowBytes)
        }
    }

    deinit { for plane in planes { plane.start.deallocate() } }

    /// Fills the part beyond the picture.
    ///
    /// - Parameter rows: the available rows of luma.
    func pad(rows: Int) {
        for (index, plane) in planes.enumerated() {
            let shift = index == 0 ? 0 : self.shift
            let filled = (rows + (1 << shift) - 1) >> shift
            for row in 0..<filled {
                let start = plane.row(row)
                let last = start + (plane.used - 1) * sampleBytes
                for column in plane.used..<plane.width {
                    (start + column * sampleBytes).copyMemory(from: last, byteCount: sampleBytes)
                }
            }
            for row in filled..<max(filled, plane.height) {
                plane.row(row).copyMemory(from: plane.row(filled - 1), byteCount: plane.rowBytes)
            }
        }
    }

    func copyTile(_ column: Int, to targets: [VideoEncoder.Plane]) {
        for (plane, target) in zip(planes, targets) {
            let bytes = target.width * sampleBytes
            for row in 0..<target.height {
                (target.start + row * target.stride).copyMemory(
                    from: plane.row(row) + column * bytes, byteCount: bytes)
            }
        }
    }
}
