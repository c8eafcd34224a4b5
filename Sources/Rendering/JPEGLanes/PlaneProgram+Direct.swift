import Edits

extension PlaneProgram {
    /// Computes rows in chunks, without the memo.
    func compute(_ rows: Rows) {
        let shift = UInt32((rows.across * rows.down).trailingZeroBitCount)
        computeInChunks(rows, words: 1) { results, start, count in
            visit(rows, from: start, count: count) { i, luma, _ in
                luma.pointee = PackedColour.luma(results[i])
            }
            let size = 1 << Int(shift)
            for column in 0..<count {
                var sum: UInt32 = 0
                for i in column * size..<(column + 1) * size { sum &+= results[i] }
                rows.blue[start + column] = PackedColour.meanBlue(sum, shift: shift)
                rows.red[start + column] = PackedColour.meanRed(sum, shift: shift)
            }
        }
    }

    /// Computes rows in chunks, without the memo, with a vignette.
    func compute(_ rows: Rows, _ vignette: PlaneVignette, _ gains: UnsafePointer<UInt64>) {
        let shift = (rows.across * rows.down).trailingZeroBitCount
        let chroma = vignette.chroma(shift: shift)
        computeInChunks(rows, words: PlaneVignette.words) { results, start, count in
            var total: UInt64 = 0
            visit(rows, from: start, count: count) { i, luma, column in
                let result = vignette.result(
                    results + i * PlaneVignette.words, gain: gains[column])
                luma.pointee = PlaneVignette.luma(of: result, isExtended: vignette.isExtended)
                total &+= result
                guard (i + 1).isMultiple(of: 1 << shift) else { return }
                (rows.blue[column], rows.red[column]) = chroma.codes(of: total)
                total = 0
            }
        }
    }

    /// Computes the colours of a row, chunk by chunk.
    ///
    /// - Parameters:
    ///   - words: words of a result.
    ///   - store: writes the results of `count` chroma samples from `start` on into the planes.
    private func computeInChunks(
        _ rows: Rows, words: Int,
        _ store: (_ results: UnsafePointer<UInt32>, _ start: Int, _ count: Int) -> Void
    ) {
        let size = rows.across * rows.down
        let capacity = PixelChunk.capacity
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * capacity) { bytes in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: words * capacity) { packed in
                guard let codes = bytes.baseAddress, let results = packed.baseAddress else {
                    return
                }
                for start in stride(from: 0, to: rows.count, by: capacity / size) {
                    let count = min(capacity / size, rows.count - start)
                    visit(rows, from: start, count: count) { i, luma, column in
                        codes[i] = luma.pointee
                        codes[i + capacity] = rows.blue[column]
                        codes[i + 2 * capacity] = rows.red[column]
                    }
                    compute(codes, plane: capacity, count: count * size, into: results)
                    store(results, start, count)
                }
            }
        }
    }

    /// Iterates over the luma samples of some chroma samples, those of one chroma sample after those of the other.
    @inline(__always)
    private func visit(
        _ rows: Rows, from start: Int, count: Int,
        _ body: (_ index: Int, _ luma: UnsafeMutablePointer<UInt8>, _ column: Int) -> Void
    ) {
        var index = 0
        for column in start..<start + count {
            for y in 0..<rows.down {
                for x in 0..<rows.across {
                    let row = y == 0 ? rows.luma : rows.below
                    body(index, row + column * rows.across + x, column)
                    index += 1
                }
            }
        }
    }
}
