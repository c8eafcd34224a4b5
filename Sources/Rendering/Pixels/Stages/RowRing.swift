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

    /// Whether all rows were made. Only for the producing thread.
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

    /// Closes the ring and wakes waiting threads.
    func close() {
        monitor.locked {
            isClosed = true
            monitor.wake()
        }
    }
}
