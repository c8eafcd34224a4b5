import NIOCore
import NIOPosix
public import SystemPackage

/// The bytes of an object to write: of a known length, and read as often as it takes.
///
/// A file stays open and as it is until the call that reads it has ended.
public struct BlobSource: Sendable {
    /// The most bytes that are read, and held in memory, at a time.
    ///
    /// Measured with 64 parts of 16 files on their way at once: the process had 83 MB at its peak, with
    /// 256 KiB it had 200 MB and spent a sixth less CPU.
    static let pieceBytesMax = 64 << 10

    /// The length in bytes.
    public let size: Int

    private let storage: Storage

    private enum Storage: Sendable {
        case memory(ByteBuffer)
        case file(SystemPackage.FileDescriptor)
    }

    /// Why a file gave fewer bytes than it had.
    struct Ended: Error, CustomStringConvertible {
        let place: Int
        var description: String { "the file ends at byte \(place), before its length" }
    }

    /// Bytes in memory.
    public static func bytes(_ bytes: [UInt8]) -> BlobSource {
        BlobSource(size: bytes.count, storage: .memory(ByteBuffer(bytes: bytes)))
    }

    /// The first `size` bytes of an open file; its offset is neither used nor moved.
    public static func file(
        _ descriptor: SystemPackage.FileDescriptor, size: Int
    ) -> BlobSource {
        BlobSource(size: size, storage: .file(descriptor))
    }

    /// At most ``pieceBytesMax`` bytes from the beginning of `range`.
    func piece(of range: Range<Int>) async throws -> ByteBuffer {
        let count = min(range.count, Self.pieceBytesMax)
        switch storage {
        case .memory(let buffer):
            // Ranges come from `size`, so they are in the buffer.
            return buffer.getSlice(at: range.lowerBound, length: count) ?? ByteBuffer()
        case .file(let descriptor):
            return try await NIOThreadPool.singleton.runIfActive {
                var buffer = ByteBufferAllocator().buffer(capacity: count)
                let read = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
                    try descriptor.read(
                        fromAbsoluteOffset: Int64(range.lowerBound),
                        into: UnsafeMutableRawBufferPointer(rebasing: $0.prefix(count)))
                }
                guard read > 0 else { throw Ended(place: range.lowerBound) }
                return buffer
            }
        }
    }

    /// The pieces of `range`, in order.
    func pieces(of range: Range<Int>) -> Pieces { Pieces(source: self, range: range) }

    /// A range of a source, a piece at a time.
    struct Pieces: AsyncSequence, Sendable {
        let source: BlobSource
        let range: Range<Int>

        struct Iterator: AsyncIteratorProtocol {
            let source: BlobSource
            var range: Range<Int>

            mutating func next() async throws -> ByteBuffer? {
                guard !range.isEmpty else { return nil }
                do {
                    let piece = try await source.piece(of: range)
                    range = range.lowerBound + piece.readableBytes..<range.upperBound
                    return piece
                } catch {
                    throw LocalFailure(underlying: error)
                }
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(source: source, range: range) }
    }
}

/// The caller's own source or sink failed.
struct LocalFailure: Error {
    let underlying: any Error
}
