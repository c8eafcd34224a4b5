/// Rows on their way from one thread to another, a few at most.
///
/// One thread makes rows and one takes them.
final class RowRing: @unchecked Sendable {
    /// Bytes from one row to the next.
    let stride: Int
    private let height: Int
    private let block: Int
    private let monitor: Monitor
    private let memory: UnsafeMutableRawBufferPointer
    /// Known to the thread that makes rows alone, and to the one that takes them.
    private var made = 0, taken = 0
    /// Guarded by the monitor: as many as the other thread has been told of.
    private var madeTold = 0, takenTold = 0
    private var isClosed = false

    /// An empty ring.
    ///
    /// - Parameters:
    ///   - height: rows that pass in all.
    ///   - block: rows after which the other thread is told: to wake one takes as long as some thousand pixels. Rows
    ///     of a block lie one behind the other.
    ///   - monitor: of all rings of a picture.
    init(rowBytes: Int, height: Int, block: Int, _ monitor: Monitor) {
        stride = Self.stride(rowBytes)
        (self.height, self.block, self.monitor) = (height, block, monitor)
        memory = .allocate(
            byteCount: Self.bytes(rowBytes: rowBytes, block: block), alignment: Self.line)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { memory.deallocate() }

    /// One is made and one taken while one lies between.
    static let blocks = 3
    /// Bytes of a line of the cache.
    private static let line = 64

    private static func stride(_ rowBytes: Int) -> Int { (rowBytes + line - 1) / line * line }

    /// Bytes that a ring for such rows holds.
    static func bytes(rowBytes: Int, block: Int) -> Int { blocks * block * stride(rowBytes) }

    private func row(_ index: Int) -> UnsafeMutableRawPointer {
        // The memory is not empty, so it has an address.
        memory.baseAddress.unsafelyUnwrapped + index % (Self.blocks * block) * stride
    }

    /// Whether all rows were made; for the thread that makes them.
    var isComplete: Bool { made == height }
    /// Whether another row has room, or nobody wants one; to be asked with the monitor locked.
    var hasRoom: Bool { made - takenTold < Self.blocks * block || isClosed }
    /// Whether a row waits, or none will come; to be asked with the monitor locked.
    var hasRow: Bool { taken < madeTold || isClosed }

    /// Waits until another row has room.
    ///
    /// - Returns: false when nobody wants one any more.
    func waitForRoom() -> Bool { monitor.locked(when: { hasRoom }, { !isClosed }) }

    /// Makes the next row, which has room.
    func append(_ make: (UnsafeMutableRawPointer) -> Void) {
        make(row(made))
        made += 1
        guard made % block == 0 || made == height else { return }
        monitor.locked {
            madeTold = made
            monitor.wake()
        }
    }

    /// Waits for the next rows.
    ///
    /// - Parameter count: rows of one block.
    /// - Returns: where they stay until they are given back; nil when the ring was closed.
    func next(_ count: Int = 1) -> UnsafeMutableRawPointer? {
        monitor.locked(when: { taken + count <= madeTold || isClosed }) { !isClosed }
            ? row(taken) : nil
    }

    /// Gives the next rows back, to be made anew.
    func giveBack(_ count: Int = 1) {
        taken += count
        guard taken % block == 0 || count > 1 else { return }
        monitor.locked {
            takenTold = taken
            monitor.wake()
        }
    }

    /// Gives up: nobody waits any more.
    func close() {
        monitor.locked {
            isClosed = true
            monitor.wake()
        }
    }
}
