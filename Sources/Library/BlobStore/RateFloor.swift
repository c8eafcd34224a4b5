/// The slowest acceptable transfer rate. A slower body counts as lost.
struct RateFloor: Sendable {
    /// The time over which bytes are counted.
    static let window = Duration.seconds(10)
    /// The fewest bytes in that time: 64 KiB a second.
    static let windowBytesMin = 640 << 10

    private var waited = Duration.zero
    private var bytes = 0

    /// Counts a piece and returns whether the transfer is too slow.
    ///
    /// - Parameter time: The time spent waiting for the piece, without the time that the reader
    ///   needed for the previous piece.
    mutating func isBroken(byPieceOf count: Int, after time: Duration) -> Bool {
        waited += time
        bytes += count
        guard waited >= Self.window else { return false }
        defer { (waited, bytes) = (.zero, 0) }
        return bytes < Self.windowBytesMin
    }
}
