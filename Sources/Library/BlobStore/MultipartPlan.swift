/// The division of an object into the parts in which it is written.
struct MultipartPlan: Sendable, Hashable {
    /// The fewest bytes of a part other than the last. Source: Amazon S3, "Multipart upload
    /// limits".
    static let partBytesMin = 5 << 20
    /// The most parts. Source: as above.
    static let partsMax = 10_000

    /// The parts in order. Part numbers begin at 1.
    let parts: [Range<Int>]

    /// Divides `size` bytes into parts of `partBytes`, or of more bytes if there would be too
    /// many parts.
    init(size: Int, partBytes: Int) {
        let least = (size + Self.partsMax - 1) / Self.partsMax
        let bytes = max(Self.partBytesMin, partBytes, least)
        parts = stride(from: 0, to: size, by: bytes).map { $0..<min($0 + bytes, size) }
    }
}
