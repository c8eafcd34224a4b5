/// A two-step pipeline over the parts of a picture, each step on a thread of its own: while one part is used, the next is made.
package enum Handover {
    /// Parts that are made ahead, which is the number of buffers that are needed.
    package static let buffers = RowRing.blocks

    /// Makes and uses parts in their order.
    ///
    /// Without a second thread, both steps run on the caller's thread.
    ///
    /// - Parameters:
    ///   - count: the number of parts.
    ///   - buffers: ``buffers`` of them; the part of number n is made in buffer n modulo their count.
    ///   - make: makes a part, on the other thread.
    ///   - use: uses it, on the caller's thread.
    /// - Throws: the first failure of either; neither runs after that.
    package static func run<Buffer, Problem: Error>(
        _ count: Int, _ buffers: [Buffer],
        make: (Int, Buffer) throws(Problem) -> Void, use: (Int, Buffer) throws(Problem) -> Void
    ) throws(Problem) {
        precondition(buffers.count == Self.buffers, "a part may be made in a buffer that is used")
        guard let thread = RowThread() else {
            for number in 0..<count {
                try make(number, buffers[0])
                try use(number, buffers[0])
            }
            return
        }
        // One byte per row: the ring only records which buffers are full.
        let ring = RowRing(rowBytes: 1, height: count, block: 1, Monitor())
        var failure: Problem?
        var used: Problem?
        withoutActuallyEscaping(make) { make in
            var number = 0
            thread.run {
                while !ring.isComplete, failure == nil, ring.waitForRoom() {
                    do throws(Problem) {
                        try make(number, buffers[number % buffers.count])
                        number += 1
                        ring.append { _ in }
                    } catch {
                        failure = error
                        ring.close()
                    }
                }
            }
            do throws(Problem) {
                for number in 0..<count {
                    guard ring.next() != nil else { break }
                    try use(number, buffers[number % buffers.count])
                    ring.release()
                }
            } catch {
                used = error
            }
            ring.close()
            thread.join()
        }
        if let failure = used ?? failure { throw failure }
    }
}
