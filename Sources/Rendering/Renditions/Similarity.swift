import Codecs
import Edits
import Files
import Filters
import Glibc

/// The structural similarity of two pictures by luma (Wang and others, 2004): a Gaussian of 11 pixels, σ 1.5, codes of 255, the mean over all
/// windows that lie within the picture.
///
/// Rows come in pairs from the top. Eleven rows of sums are kept.
struct Similarity {
    private let width: Int
    private var ring: [[Float]]
    private var rows = 0
    private var sum = 0.0
    private var count = 0

    static let window = 11
    private static let sums = 5
    private static let stabilisers = (Float(6.5025), Float(58.5225))
    private static let weights: [Float] = {
        let raw = (-5...5).map { exp(-Double($0 * $0) / (2 * 1.5 * 1.5)) }
        let total = raw.reduce(0, +)
        return raw.map { Float($0 / total) }
    }()

    /// - Parameter width: columns of both pictures.
    init(width: Int) {
        self.width = width
        let windows = max(0, width - Self.window + 1)
        ring = [[Float]](
            repeating: [Float](repeating: 0, count: windows * Self.sums), count: Self.window)
    }

    /// The similarity of all rows, 1 for equal pictures; also for pictures that are smaller than a window.
    var value: Double { count == 0 ? 1 : sum / Double(count) }

    /// Adds the next row of both pictures.
    mutating func add(_ one: [Float], _ other: [Float]) {
        let windows = width - Self.window + 1
        guard windows > 0 else { return }
        let weights = Self.weights
        let slot = rows % Self.window
        ring[slot].withUnsafeMutableBufferPointer { sums in
            for x in 0..<windows {
                var (a, b, aa, bb, ab) = (Float(0), Float(0), Float(0), Float(0), Float(0))
                for tap in 0..<Self.window {
                    let (p, q, weight) = (one[x + tap], other[x + tap], weights[tap])
                    a += weight * p
                    b += weight * q
                    aa += weight * p * p
                    bb += weight * q * q
                    ab += weight * p * q
                }
                (sums[x], sums[windows + x], sums[2 * windows + x]) = (a, b, aa)
                (sums[3 * windows + x], sums[4 * windows + x]) = (bb, ab)
            }
        }
        rows += 1
        guard rows >= Self.window else { return }
        addWindows(windows)
    }

    private mutating func addWindows(_ windows: Int) {
        var means = [Float](repeating: 0, count: windows * Self.sums)
        for tap in 0..<Self.window {
            let weight = Self.weights[tap]
            let row = ring[(rows + tap) % Self.window]
            for index in means.indices { means[index] += weight * row[index] }
        }
        let (c1, c2) = Self.stabilisers
        var total = 0.0
        for x in 0..<windows {
            let (a, b) = (means[x], means[windows + x])
            let varianceA = means[2 * windows + x] - a * a
            let varianceB = means[3 * windows + x] - b * b
            let covariance = means[4 * windows + x] - a * b
            total += Double(
                (2 * a * b + c1) * (2 * covariance + c2)
                    / ((a * a + b * b + c1) * (varianceA + varianceB + c2)))
        }
        sum += total
        count += windows
    }
}

extension KeptPicture {
    /// Returns the similarity of an encoded file to the picture.
    ///
    /// - Throws: failures of reading the file back.
    func similarity(to file: OpenFile) throws(Failure) -> Double {
        var similarity = Similarity(width: size.width)
        var y = 0
        do {
            let photo = try StandardImage(PhotoFile(file).image(failOn: .error))
            guard photo.image.width == size.width, photo.image.height == size.height else {
                throw Failure(
                    .internalError, "\(file.name) is read back with another size than \(size).")
            }
            let layout = photo.layout
            try photo.image.streamRows { rows throws(Failure) in
                for index in 0..<rows.area.height {
                    let own = try self.luma(row: y)
                    similarity.add(own, layout.luma(rows.row(index), count: self.size.width))
                    y += 1
                }
            }
        } catch {
            throw Failure(reading: error, photo: file.name)
        }
        return similarity.value
    }
}

extension PixelProgram.Layout {
    /// Returns the luma of a row of codes by BT.601, 0 to 255.
    func luma(_ row: UnsafeRawPointer, count: Int) -> [Float] {
        func luma<Code: FixedWidthInteger & UnsignedInteger>(
            _ codes: UnsafePointer<Code>, _ scale: Float
        ) -> [Float] {
            (0..<count).map { x in
                let pixel = codes + x * bands
                guard bands >= 3 else { return scale * Float(pixel[0]) }
                return scale
                    * (0.299 * Float(pixel[0]) + 0.587 * Float(pixel[1]) + 0.114 * Float(pixel[2]))
            }
        }
        return sample == .encoded8
            ? luma(row.assumingMemoryBound(to: UInt8.self), 1)
            : luma(row.assumingMemoryBound(to: UInt16.self), 255 / 65_535)
    }
}
