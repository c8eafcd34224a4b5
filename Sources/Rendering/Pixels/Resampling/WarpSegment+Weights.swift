extension WarpSegment {
    /// Computes the weights of the four columns and rows around each position.
    package func weigh(count: Int) {
        Self.weigh(across, columnWeights, count)
        Self.weigh(down, rowWeights, count)
    }

    @inline(__always)
    private static func weigh(
        _ positions: UnsafePointer<Float>, _ weights: UnsafeMutablePointer<Float>, _ count: Int
    ) {
        let (first, second) = (weights, weights + length)
        let (third, fourth) = (weights + 2 * length, weights + 3 * length)
        for i in 0..<count {
            let t = positions[i]
            let (t2, t3) = (t * t, t * t * t)
            first[i] = -0.5 * t + t2 - 0.5 * t3
            second[i] = 1 - 2.5 * t2 + 1.5 * t3
            third[i] = 0.5 * t + 2 * t2 - 1.5 * t3
            fourth[i] = -0.5 * t2 + 0.5 * t3
        }
    }

    /// Limits the width of all kernels.
    package func narrow(to most: Float, count: Int) {
        for stretch in [stretchX, stretchY] {
            for i in 0..<count { stretch[i] = stretch[i] < most ? stretch[i] : most }
        }
    }

    /// Computes the weights of all columns and rows within reach of kernels of each position's width; those of a position sum up to
    /// 1.
    ///
    /// - Parameter taps: the reach of the widest kernel; taps beyond the reach of narrower ones get weight 0. ``columns`` and
    ///   ``rows`` become the first within reach.
    package func weighWide(count: Int, taps: (columns: Int, rows: Int)) {
        Self.weigh(across, columns, stretchX, columnWeights, count, taps.columns)
        Self.weigh(down, rows, stretchY, rowWeights, count, taps.rows)
    }

    @inline(__always)
    private static func weigh(
        _ positions: UnsafeMutablePointer<Float>, _ whole: UnsafeMutablePointer<Int32>,
        _ stretch: UnsafePointer<Float>, _ weights: UnsafeMutablePointer<Float>, _ count: Int,
        _ taps: Int
    ) {
        // From here on, a position is its distance from the first column or row within reach.
        for i in 0..<count {
            let first = Int32(positions[i] - 2 * stretch[i])
            whole[i] &+= first
            positions[i] -= Float(first)
        }
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * length) { memory in
            guard let sums = memory.baseAddress else { return }
            let shares = sums + length
            sums.update(repeating: 0, count: length)
            for i in 0..<count { shares[i] = 1 / stretch[i] }
            for tap in 0..<taps {
                let line = weights + tap * length
                let number = Float(tap)
                for i in 0..<count {
                    let distance = (number - positions[i]) * shares[i]
                    let t = distance.magnitude
                    let near = 1 + t * t * (1.5 * t - 2.5)
                    let far = 2 + t * (-4 + t * (2.5 - 0.5 * t))
                    let outer = t < 2 ? far : 0
                    line[i] = t < 1 ? near : outer
                    sums[i] += line[i]
                }
            }
            for i in 0..<count { sums[i] = 1 / sums[i] }
            for tap in 0..<taps {
                let line = weights + tap * length
                for i in 0..<count { line[i] *= sums[i] }
            }
        }
    }
}
