package import Adjustments

/// A chain of rows that several threads make together: each runs a part of it, and hands its rows to the next part.
///
/// All bytes are as one thread makes them: each row is computed once, from the same rows, in the same order. The first
/// part reads the photo, so it runs on the thread of whoever asks for rows.
package final class RowStages: CodedRowSource {
    private let monitor = Monitor()
    private var threads: [RowThread]
    /// The photo, and where its rows go.
    private var feed: (ring: RowRing, rowBytes: Int)?
    private var strips = PhotoStrips(rows: 0)
    private var result: (ring: RowRing, rowBytes: Int)?
    private var rings: [RowRing] = []
    /// The work of the threads, once the chain is whole.
    private var parts: [() -> Void] = []

    /// Starts the threads of the parts behind the first one.
    ///
    /// - Parameter parts: calls of ``cut(_:)``, and the one of ``finish(_:rowBytes:)``, that will follow.
    /// - Returns: nil when the system has no threads to give: one makes all then.
    package init?(parts: Int) {
        threads = (0..<parts).compactMap { _ in RowThread() }
        guard threads.count == parts, parts > 0 else { return nil }
    }

    deinit {
        for ring in rings { ring.close() }
        // Joined here, while what they use is still there.
        threads = []
    }

    /// Bytes that the rings hold.
    ///
    /// - Parameters:
    ///   - cuts: calls of ``cut(_:)`` at rows of such a format.
    ///   - photo, result: bytes of their rows.
    package static func bytes(cuts: Int, at format: RowFormat, photo: Int, result: Int) -> Int {
        let (planes, block) = (StagedSource.rowBytes(format), StagedSource.block)
        return cuts * RowRing.bytes(rowBytes: planes, block: block)
            + RowRing.bytes(rowBytes: photo, block: PhotoStrips.height)
            + RowRing.bytes(rowBytes: result, block: block)
    }

    /// Begins the chain: the photo's rows, read on the thread of whoever asks for those of the result.
    package func read(width: Int, height: Int, rowBytes: Int) -> any PhotoReader {
        let ring = newRing(rowBytes: rowBytes, height: height, block: PhotoStrips.height)
        feed = (ring, rowBytes)
        strips = PhotoStrips(rows: height)
        return StagedPhoto(width: width, ring)
    }

    /// Ends a part of the chain.
    ///
    /// - Parameter rows: what the part makes. Not to be used by anybody else.
    /// - Returns: the same rows for the next part.
    package func cut(_ rows: any RowSource) -> any RowSource {
        let format = rows.format
        let ring = newRing(
            rowBytes: StagedSource.rowBytes(format), height: format.height,
            block: StagedSource.block)
        run(into: ring) { rows.next(into: StagedSource.row(format, at: $0)) }
        return StagedSource(format, ring)
    }

    /// Ends the last part, and lets the threads begin: the photo has its reader by now.
    ///
    /// - Parameter rows: what it makes. Not to be used by anybody else.
    package func finish(_ rows: CodedRows, rowBytes: Int) {
        let ring = newRing(
            rowBytes: rowBytes, height: rows.format.height, block: StagedSource.block)
        run(into: ring) { rows.compute(into: $0) }
        result = (ring, rowBytes)
        for (thread, part) in zip(threads, parts) { thread.run(part) }
        parts = []
    }

    private func newRing(rowBytes: Int, height: Int, block: Int) -> RowRing {
        let ring = RowRing(rowBytes: rowBytes, height: height, block: block, monitor)
        rings.append(ring)
        return ring
    }

    private func run(into ring: RowRing, _ make: @escaping (UnsafeMutableRawPointer) -> Void) {
        parts.append {
            while !ring.isComplete, ring.waitForRoom() { ring.append(make) }
        }
    }

    package var reader: (any PhotoReader)? {
        get { strips.reader }
        set { strips.reader = newValue }
    }

    /// Reads the photo until the next row has come out of the last part.
    package func makeRow(into row: UnsafeMutableRawPointer) -> Bool {
        guard let feed, let result else { return false }
        while true {
            let (isThere, hasRoom) = monitor.locked(when: {
                result.ring.hasRow || !feed.ring.isComplete && feed.ring.hasRoom
            }) {
                (result.ring.hasRow, !feed.ring.isComplete && feed.ring.hasRoom)
            }
            // One ahead for each that is taken, so that the other parts have work meanwhile.
            if hasRoom {
                guard let pixels = strips.next().pixels else { return false }
                feed.ring.append { $0.copyMemory(from: pixels, byteCount: feed.rowBytes) }
            }
            if isThere, let start = result.ring.next() {
                row.copyMemory(from: start, byteCount: result.rowBytes)
                result.ring.giveBack()
                return true
            }
        }
    }
}
