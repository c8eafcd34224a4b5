package import Edits

/// A chain of rows that several threads compute together: each runs a stage, and passes its rows to the next stage.
///
/// The bytes are the same as with one thread: each row is computed once, from the same rows, in the same order. The first stage
/// reads the photo, so it runs on the thread that requests rows.
package final class RowStages: CodedRowSource {
    private let monitor = Monitor()
    private var threads: [RowThread]
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

/// Rows that another thread makes.
final class StagedSource: RowSource {
    let format: RowFormat
    private let ring: RowRing

    init(_ format: RowFormat, _ ring: RowRing) {
        self.format = format
        self.ring = ring
    }

    static let block = 8

    /// Returns the samples from one plane to the next in a ring.
    private static func stride(_ format: RowFormat) -> Int {
        (format.width + RowFormat.block + 15) & ~15
    }

    /// Returns the bytes of a row in a ring.
    static func rowBytes(_ format: RowFormat) -> Int {
        stride(format) * format.planes * MemoryLayout<Float>.stride
    }

    static func row(_ format: RowFormat, at start: UnsafeMutableRawPointer) -> PlanarRow {
        let samples = stride(format) * format.planes
        return PlanarRow(
            start: start.bindMemory(to: Float.self, capacity: samples), stride: stride(format))
    }

    func next(into row: PlanarRow) {
        // The ring is closed: no thread reads the rows any more.
        guard let start = ring.next() else { return }
        let made = Self.row(format, at: start)
        for plane in 0..<format.planes {
            row[plane].update(from: made[plane], count: format.width)
        }
        ring.release()
    }
}

/// The rows of a photo as they are decoded, for a thread that does not decode them itself.
final class StagedPhoto: PhotoReader {
    private let width: Int
    private let ring: RowRing
    /// Rows that were returned and may be in use.
    private var inUse = 0

    init(width: Int, _ ring: RowRing) { (self.width, self.ring) = (width, ring) }

    /// Returns the next strip, which stays valid until the next request.
    func rows(from top: Int, count: Int) -> RegionPixels? {
        if inUse > 0 { ring.release(inUse) }
        inUse = 0
        guard let start = ring.next(count) else { return nil }
        inUse = count
        return RegionPixels(
            area: PixelArea(left: 0, top: top, width: width, height: count), start: start,
            stride: ring.stride)
    }

    func pixels(of area: PixelArea) -> RegionPixels? {
        preconditionFailure("a photo that streams is read by whole rows")
    }
}

/// A short ring buffer of rows from one thread to another.
///
/// One thread makes rows and one consumes them.
final class RowRing: @unchecked Sendable {
    /// Bytes from one row to the next.
    let stride: Int
    private let height: Int
    private let block: Int
    private let monitor: Monitor
    private let memory: UnsafeMutableRawBufferPointer
    /// `made` is known only to the producing thread, and `consumed` only to the consuming one.
    private var made = 0, consumed = 0
    /// Guarded by the monitor: the counts last published to the other thread.
    private var madeReported = 0, consumedReported = 0
    private var isClosed = false

    /// Creates an empty ring.
    ///
    /// - Parameters:
    ///   - height: the total number of rows.
    ///   - block: rows after which the other thread is notified, because waking a thread takes as long as computing some thousand
    ///     pixels. Rows of a block are contiguous.
    ///   - monitor: shared by all rings of a picture.
    init(rowBytes: Int, height: Int, block: Int, _ monitor: Monitor) {
        stride = Self.stride(rowBytes)
        (self.height, self.block, self.monitor) = (height, block, monitor)
        memory = .allocate(
            byteCount: Self.bytes(rowBytes: rowBytes, block: block), alignment: Self.line)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { memory.deallocate() }

    /// Three blocks: one is made and one consumed, with one between them.
    static let blocks = 3
    /// Bytes of a cache line.
    private static let line = 64

    private static func stride(_ rowBytes: Int) -> Int { (rowBytes + line - 1) / line * line }

    /// Returns the bytes of a ring for such rows.
    static func bytes(rowBytes: Int, block: Int) -> Int { blocks * block * stride(rowBytes) }

    private func row(_ index: Int) -> UnsafeMutableRawPointer {
        // The buffer is not empty, so it has an address.
        memory.baseAddress.unsafelyUnwrapped + index % (Self.blocks * block) * stride
    }

    var isComplete: Bool { made == height }
    /// Whether there is room for another row, or the ring is closed. Call it with the monitor locked.
    var hasRoom: Bool { made - consumedReported < Self.blocks * block || isClosed }
    /// Whether a row is available, or the ring is closed. Call it with the monitor locked.
    var hasRow: Bool { consumed < madeReported || isClosed }

    /// Waits until there is room for another row.
    ///
    /// - Returns: false if the ring was closed.
    func waitForRoom() -> Bool { monitor.locked(when: { hasRoom }, { !isClosed }) }

    /// Makes the next row. There must be room for it.
    func append(_ make: (UnsafeMutableRawPointer) -> Void) {
        make(row(made))
        made += 1
        guard made % block == 0 || made == height else { return }
        monitor.locked {
            madeReported = made
            monitor.wake()
        }
    }

    /// Waits for the next rows.
    ///
    /// - Parameter count: rows of one block.
    /// - Returns: their address, valid until they are given back; nil if the ring was closed.
    func next(_ count: Int = 1) -> UnsafeMutableRawPointer? {
        monitor.locked(when: { consumed + count <= madeReported || isClosed }) { !isClosed }
            ? row(consumed) : nil
    }

    /// Releases the next rows, so that they can be overwritten.
    func release(_ count: Int = 1) {
        consumed += count
        guard consumed % block == 0 || count > 1 else { return }
        monitor.locked {
            consumedReported = consumed
            monitor.wake()
        }
    }

    func close() {
        monitor.locked {
            isClosed = true
            monitor.wake()
        }
    }
}
