import Edits
package import Files
package import Hummingbird
package import NIOCore

/// The bytes of a file as a response's body. A stalled client holds one piece in memory.
///
/// Hummingbird's own writer accepts bytes faster than the event loop sends them, so a slow client had the whole file in
/// memory. Here, a piece is read after the kernel has accepted the one before.
package struct BoundedDownload: Sendable {
    /// Bytes that are read and held at a time.
    package static let pieceBytes = 64 << 10

    private let file: OpenFile
    private let range: Range<Int>
    private let channel: any Channel

    /// Creates the download of a part of a file.
    ///
    /// - Parameters:
    ///   - range: a range within the file. The file must not change meanwhile.
    ///   - channel: the request's channel, from ``GatewayChannel``.
    package init(_ file: OpenFile, _ range: Range<Int>, over channel: any Channel) {
        (self.file, self.range, self.channel) = (file, range, channel)
    }

    /// The body. If the file ends early, the body and the connection fail.
    package var body: ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let piece = try await piece(at: offset)
                offset += piece.readableBytes
                try await writer.write(piece)
                try await channel.drain()
            }
            try await writer.finish(nil)
        }
    }

    private func piece(at offset: Int) async throws(Failure) -> ByteBuffer {
        let count = min(Self.pieceBytes, range.upperBound - offset)
        return try await offPool { () throws(Failure) in
            var piece = ByteBuffer()
            let read = try piece.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
                memory throws(Failure) in
                try file.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: memory[..<count]), from: offset)
            }
            guard read == count else {
                throw Failure(
                    .ioFailure, "\(file.name) ended at byte \(offset + read), before its length.")
            }
            return piece
        }
    }
}

extension Channel {
    /// Waits until the kernel has accepted all bytes that were written.
    ///
    /// - Throws: `ChannelError` if the connection ends before.
    package func drain() async throws {
        let drained = eventLoop.makePromise(of: Void.self)
        triggerUserOutboundEvent(DeadlineHandler.DrainRequest(), promise: drained)
        try await drained.futureResult.get()
    }
}
