/// The chroma of each pixel of a row, from planes that may have fewer samples than luma.
///
/// Chroma lies in the middle between the samples of luma that it is for, as JPEG has it, and is interpolated between its
/// neighbours by weights of 3 and 1 in each direction.
package final class ChromaRow {
    /// Rows of chroma that a row of luma lies between; the nearer one counts three times.
    package struct Rows {
        let near: UnsafeRawPointer, far: UnsafeRawPointer

        /// Makes a pair, each from its first sample on; the same twice where chroma has as many rows as luma.
        package init(near: UnsafeRawPointer, far: UnsafeRawPointer) {
            (self.near, self.far) = (near, far)
        }
    }

    private let shiftX: Int
    private let length: Int
    private let upsampled: Scratch
    private let summed: Scratch

    /// Sixteen times the chroma of the pixels.
    package var values: UnsafeMutablePointer<Int32> { upsampled.start }

    /// - Parameters:
    ///   - width: most pixels.
    ///   - shiftX: by how many bits chroma has fewer samples in a row: 0 or 1.
    ///   - length: how many it has.
    package init(width: Int, shiftX: Int, length: Int) {
        (self.shiftX, self.length) = (shiftX, length)
        upsampled = Scratch(width)
        // One more at each end, where the last sample stands again.
        summed = Scratch(length + 2)
    }

    /// Makes ``values`` of some pixels.
    ///
    /// - Parameters:
    ///   - sampleBytes: of a sample: 1, or 2 in the machine's order. No type: a generic method of another module is not specialised, and took
    ///     a third of what a blur of a movie's frame takes.
    ///   - left: the column of the first pixel among all of luma.
    ///   - count: at least 1.
    package func fill(from rows: Rows, sampleBytes: Int, left: Int, count: Int) {
        if sampleBytes == 1 {
            fill(from: rows, UInt8.self, left: left, count: count)
        } else {
            fill(from: rows, UInt16.self, left: left, count: count)
        }
    }

    /// The same for a type of samples.
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
        // Pairs of pixels between two samples of chroma; one may be left over at each end.
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
