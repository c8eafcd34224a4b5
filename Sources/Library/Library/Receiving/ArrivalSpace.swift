public import Edits
public import Files
import SystemPackage

/// The space of an arriving original, reserved a little ahead of its bytes, so that its announced length takes no space.
public struct ArrivalSpace: Sendable {
    /// The most bytes that are reserved and not written: long runs on the disk, and little if the bytes never arrive.
    public static let aheadBytes = 64 << 20

    private let arrival: OriginalArrival
    private var reserved = 0

    /// Creates the space of an original of which nothing has arrived.
    public init(of arrival: OriginalArrival) { self.arrival = arrival }

    /// Makes room for the bytes up to an offset.
    ///
    /// - Throws: `noSpace` if too little would stay free; `ioFailure`.
    public mutating func reserve(upTo end: Int, in file: OpenFile) throws(Failure) {
        guard end > reserved else { return }
        // Never beyond the announced length: the file would be longer than the original.
        let next = min(max(end, reserved + Self.aheadBytes), max(end, arrival.bytes))
        let free = try DiskSpace(of: file).free
        guard free - (next - reserved) >= arrival.bytesLeftFree else {
            throw Failure(
                .noSpace,
                "\(arrival.asset.string.debugDescription) does not fit: \(free) bytes are free after \(reserved) of it, and "
                    + "\(arrival.bytesLeftFree) have to stay so. Free some space, and send it again."
            )
        }
        try FileSystem().reserve(reserved..<next, for: file)
        reserved = next
    }
}
