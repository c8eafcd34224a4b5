/// The chroma of each pixel of a row, from planes that may have fewer samples than luma.
///
/// Chroma lies in the middle of the luma samples that share it, as in JPEG, and is interpolated between its neighbours with weights
/// of 3 and 1 in each direction.
package final class ChromaRow {
    /// The two rows of chroma around a row of luma; the nearer one has weight 3.
    package struct Rows {
        let near: UnsafeRawPointer, far: UnsafeRawPointer

        /// Creates a pair of rows, each from its first sample on; the same row twice if chroma has full vertical resolution.
        package init(near: UnsafeRawPointer, far: UnsafeRawPointer) {
            (self.near, self.far) = (near, far)
        }
    }

    private let shiftX: Int
    private let length: Int
    private let upsampled: Scratch
    private let summed: Scratch

    /// Sixteen times the chroma of each pixel.
    package var values: UnsafeMutablePointer<Int32> { upsampled.start }

    /// - Parameters:
    ///   - width: most pixels.
    ///   - shiftX: the horizontal subsampling of chroma as a shift: 0 or 1.
    ///   - length: samples of chroma in a row.
    package init(width: Int, shiftX: Int, length: Int) {
        (self.shiftX, self.length) = (shiftX, length)
        upsampled = Scratch(width)
        // One more at each end, which repeats the outermost sample.
        summed = Scratch(length + 2)
    }

    /// Computes ``values`` for some pixels.
    ///
    /// - Parameters:
    ///   - sampleBytes: bytes of a sample: 1, or 2 in the machine's byte order. It is not a type parameter: a generic method of
    ///     another module is not specialised, which took a third of the time of a blur of a movie's frame.
    ///   - left: the column of the first pixel in the luma plane.
    ///   - count: at least 1.
    package func fill(from rows: Rows, sampleBytes: Int, left: Int, count: Int) {
        if sampleBytes == 1 {
            fill(from: rows, UInt8.self, left: left, count: count)
        } else {
            fill(from: rows, UInt16.self, left: left, count: count)
        }
    }

    /// Computes the values for a sample type.
    func fill<Sample: FixedWidthInteger>(
        from rows: Rows, _ kind: Sample.Type, left: Int, count: Int
    ) {
        let near = rows.near.assumingMemoryBound(to: kind)
        let far = rows.far.assumingMemoryBound(to: kind)
        let (sums, out) = (summed.start + 1, upsampled.start)
        guard shiftX == 1 else {
            for x in 0..<count {
                out[x] =
                    4
                    &* (3 &* Int32(truncatingIfNeeded: near[left &+ x])
                        &+ Int32(truncatingIfNeeded: far[left &+ x]))
            }
            return
        }
        let first = left >> 1
        let last = (left + count - 1) >> 1
        for i in max(0, first - 1)...min(length - 1, last + 1) {
            sums[i] =
                3 &* Int32(truncatingIfNeeded: near[i]) &+ Int32(truncatingIfNeeded: far[i])
        }
        sums[-1] = sums[0]
        sums[length] = sums[length - 1]
        // Pairs of pixels between two samples of chroma; one pixel may remain at each end.
        var (x, i) = (0, first)
        if left & 1 == 1 {
            out[0] = 3 &* sums[i] &+ sums[i &+ 1]
            (x, i) = (1, i &+ 1)
        }
        let (pairs, rest) = ((count &- x) / 2, out + x)
        for pair in 0..<pairs {
            let sample = 3 &* sums[i &+ pair]
            rest[2 &* pair] = sample &+ sums[i &+ pair &- 1]
            rest[2 &* pair &+ 1] = sample &+ sums[i &+ pair &+ 1]
        }
        if x &+ 2 &* pairs < count {
            rest[2 &* pairs] = 3 &* sums[i &+ pairs] &+ sums[i &+ pairs &- 1]
        }
    }
}

/// Numbers of one row.
final class Scratch {
    let start: UnsafeMutablePointer<Int32>

    init(_ count: Int) {
        start = .allocate(capacity: count)
        start.initialize(repeating: 0, count: count)
    }

    deinit { start.deallocate() }
}
