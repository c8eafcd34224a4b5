import NIOCore
import NIOPosix
public import SystemPackage

extension S3Client {
    /// Writes a range of an object into an open file, at the same offsets as in the object.
    ///
    /// It reads several ranges of ``S3Configuration/partBytes`` concurrently, all of the same
    /// content. If the object is replaced in the meantime, the call throws
    /// ``BlobError/Code/changed``, and the file's content in the range is undefined.
    ///
    /// - Parameter blob: The object as ``head(_:)`` described it.
    public func download(
        _ key: BlobKey, _ blob: Blob, _ range: Range<Int>? = nil,
        into file: SystemPackage.FileDescriptor
    ) async throws(BlobError) {
        let range = (range ?? 0..<blob.size).clamped(to: 0..<blob.size)
        let step = max(1, configuration.partBytes)
        let parts = stride(from: range.lowerBound, to: range.upperBound, by: step).map {
            $0..<min($0 + step, range.upperBound)
        }
        _ = try await allOf(parts, atOnce: configuration.partsAtOnce) { part throws(BlobError) in
            var offset = part.lowerBound
            try await self.get(key, part, ifMatch: blob.tag) { piece in
                try await Self.write(piece, at: offset, to: file)
                offset += piece.readableBytes
            }
        }
    }

    /// Writes on a thread outside the cooperative pool.
    private static func write(
        _ piece: ByteBuffer, at offset: Int, to file: SystemPackage.FileDescriptor
    ) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            try piece.withUnsafeReadableBytes { bytes in
                var written = 0
                while written < bytes.count {
                    written += try file.write(
                        toAbsoluteOffset: Int64(offset + written),
                        UnsafeRawBufferPointer(rebasing: bytes[written...]))
                }
            }
        }
    }
}
