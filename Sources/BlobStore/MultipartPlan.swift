/// How an object is cut into the parts that it is written in.
struct MultipartPlan: Sendable, Hashable {
    /// The fewest bytes of a part that is not the last. Source: Amazon S3, "Multipart upload limits".
    static let partBytesMin = 5 << 20
    /// The most parts. Source: as above.
    static let partsMax = 10_000

    /// The parts in order; part numbers begin at 1.
    let parts: [Range<Int>]

    /// Cuts `size` bytes into parts of `partBytes`, or of as much more as it takes.
    init(size: Int, partBytes: Int) {
        let least = (size + Self.partsMax - 1) / Self.partsMax
        let bytes = max(Self.partBytesMin, partBytes, least)
        parts = stride(from: 0, to: size, by: bytes).map { $0..<min($0 + bytes, size) }
    }
}
