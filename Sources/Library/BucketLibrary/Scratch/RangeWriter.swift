import Edits
import BlobStore
import Files
import NIOCore

/// Writes a range of an object into a file, at the same offsets, as the bytes arrive.
struct RangeWriter {
    /// The expected range.
    let range: Range<Int>
    private let file: OpenFile
    private var hash: SHA256?
    /// The number of received bytes.
    private(set) var bytes = 0
    private var written = 0
    /// The received buffers that are not written yet. They are kept apart, because joining them would copy each
    /// byte once more.
    private var pending: [ByteBuffer] = []
    private var pendingBytes = 0

    /// The number of bytes that are written at once.
    private static let writeBytes = 512 << 10

    /// - Parameter isDigested: whether to compute ``digest``.
    init(_ file: OpenFile, _ range: Range<Int>, isDigested: Bool = false) {
        (self.file, self.range) = (file, range)
        hash = isDigested ? SHA256() : nil
    }

    /// The SHA-256, in hex, of the received bytes; empty unless it was requested.
    var digest: String { hash.map { BlobDigest($0.finalize()).hex } ?? "" }

    /// Reads a range of an object, or all of it. It may be called once. ``flush()`` writes the last bytes.
    @discardableResult
    mutating func read(
        from store: any BlobStore, _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?
    ) async throws(BlobError) -> Blob {
        try await store.get(key, range, ifMatch: tag) { piece in try await self.append(piece) }
    }

    private mutating func append(_ piece: ByteBuffer) async throws(Failure) {
        piece.withUnsafeReadableBytes { hash?.update(bufferPointer: $0) }
        bytes += piece.readableBytes
        guard bytes <= range.count else {
            throw Failure(
                .damagedVersion,
                "\(file.name) has more than the \(range.upperBound) bytes that it should have. Restore it from a backup."
            )
        }
        pending.append(piece)
        pendingBytes += piece.readableBytes
        if pendingBytes >= Self.writeBytes { try await flush() }
    }

    /// Writes the received bytes that are not written yet.
    mutating func flush() async throws(Failure) {
        let (file, pieces, first) = (file, pending, range.lowerBound + written)
        guard !pieces.isEmpty else { return }
        try await offPool { () throws(Failure) in
            var offset = first
            for piece in pieces {
                try piece.withUnsafeReadableBytes { bytes throws(Failure) in
                    try file.write(bytes, at: offset)
                }
                offset += piece.readableBytes
            }
        }
        written += pendingBytes
        (pending, pendingBytes) = ([], 0)
    }
}
