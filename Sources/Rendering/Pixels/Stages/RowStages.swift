package import Edits

/// A chain of rows that several threads compute together: each runs a stage, and passes its rows to the next stage.
///
/// The bytes are the same as with one thread: each row is computed once, from the same rows, in the same order. The first stage
/// reads the photo, so it runs on the thread that requests rows.
package final class RowStages: CodedRowSource {
    private let monitor = Monitor()
    private var threads: [RowThread]
    /// The ring for the photo's rows, and their size.
    private var feed: (ring: RowRing, rowBytes: Int)?
    private var strips = PhotoStrips(rows: 0)
    private var result: (ring: RowRing, rowBytes: Int)?
    private var rings: [RowRing] = []
    /// The work of the threads, collected until the chain is complete.
    private var parts: [() -> Void] = []

    /// Starts the threads of the stages after the first one.
    ///
    /// - Parameter parts: the number of calls of ``cut(_:)`` and ``finish(_:rowBytes:)`` that will follow.
    /// - Returns: nil if the system cannot start the threads: one thread then computes everything.
    package init?(parts: Int) {
        threads = (0..<parts).compactMap { _ in RowThread() }
        guard threads.count == parts, parts > 0 else { return nil }
    }

    deinit {
        for ring in rings { ring.close() }
        // Joined here, while the state that they use still exists.
        threads = []
    }

    /// Returns the bytes that the rings hold.
    ///
    /// - Parameters:
    ///   - cuts: the number of calls of ``cut(_:)`` at rows of such a format.
    ///   - photo, result: bytes of their rows.
    package static func bytes(cuts: Int, at format: RowFormat, photo: Int, result: Int) -> Int {
        let (planes, block) = (StagedSource.rowBytes(format), StagedSource.block)
        return cuts * RowRing.bytes(rowBytes: planes, block: block)
            + RowRing.bytes(rowBytes: photo, block: PhotoStrips.height)
            + RowRing.bytes(rowBytes: result, block: block)
    }

    /// Begins the chain with the photo's rows, which are read on the thread that requests the result's rows.
    package func read(width: Int, height: Int, rowBytes: Int) -> any PhotoReader {
        let ring = newRing(rowBytes: rowBytes, height: height, block: PhotoStrips.height)
        feed = (ring, rowBytes)
        strips = PhotoStrips(rows: height)
        return StagedPhoto(width: width, ring)
    }

    /// Ends a stage of the chain.
    ///
    /// - Parameter rows: the stage's output, not used elsewhere.
    /// - Returns: the same rows for the next stage.
    package func cut(_ rows: any RowSource) -> any RowSource {
        let format = rows.format
        let ring = newRing(
            rowBytes: StagedSource.rowBytes(format), height: format.height,
            block: StagedSource.block)
        run(into: ring) { rows.next(into: StagedSource.row(format, at: $0)) }
        return StagedSource(format, ring)
    }

    /// Ends the last stage and starts the threads. The photo must have its reader by now.
    ///
    /// - Parameter rows: the stage's output, not used elsewhere.
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

    /// Reads the photo until the last stage has output the next row.
    package func makeRow(into row: UnsafeMutableRawPointer) -> Bool {
        guard let feed, let result else { return false }
        while true {
            let (isThere, hasRoom) = monitor.locked(when: {
                result.ring.hasRow || !feed.ring.isComplete && feed.ring.hasRoom
            }) {
                (result.ring.hasRow, !feed.ring.isComplete && feed.ring.hasRoom)
            }
            // Feeds one row ahead for each row taken, so that the other stages stay busy.
            if hasRoom {
                guard let pixels = strips.next().pixels else { return false }
                feed.ring.append { $0.copyMemory(from: pixels, byteCount: feed.rowBytes) }
            }
            if isThere, let start = result.ring.next() {
                row.copyMemory(from: start, byteCount: result.rowBytes)
                result.ring.release()
                return true
            }
        }
    }
}
