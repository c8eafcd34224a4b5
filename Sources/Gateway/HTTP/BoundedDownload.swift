import Adjustments
package import Files
package import Hummingbird
package import NIOCore

/// The bytes of a file as a response's body, of which a stalled client holds one piece in memory.
///
/// Hummingbird's own writer takes bytes faster than the event loop: a slow client had the whole file in memory. So a piece
/// is read when the kernel has taken the one before.
package struct BoundedDownload: Sendable {
    /// Bytes that are read, and held, at a time.
    package static let pieceBytes = 64 << 10

    private let file: OpenFile
    private let range: Range<Int>
    private let channel: any Channel

    /// A part of a file.
    ///
    /// - Parameters:
    ///   - range: within the file; nobody writes to it meanwhile.
    ///   - channel: the request's, of ``GatewayChannel``.
    package init(_ file: OpenFile, _ range: Range<Int>, over channel: any Channel) {
        (self.file, self.range, self.channel) = (file, range, channel)
    }

    /// The body. It fails, and with it the connection, when the file has ended before.
    package var body: ResponseBody {
        ResponseBody(contentLength: range.count) { writer in
            var place = range.lowerBound
            while place < range.upperBound {
                let piece = try await piece(at: place)
                place += piece.readableBytes
                try await writer.write(piece)
                try await channel.drain()
            }
            try await writer.finish(nil)
        }
    }

    private func piece(at place: Int) async throws(Failure) -> ByteBuffer {
        let count = min(Self.pieceBytes, range.upperBound - place)
        return try await offPool { () throws(Failure) in
            var piece = ByteBuffer()
            let read = try piece.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
                memory throws(Failure) in
                try file.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: memory[..<count]), from: place)
            }
            guard read == count else {
                throw Failure(
                    .ioFailure, "\(file.name) ended at byte \(place + read), before its length.")
            }
            return piece
        }
    }
}

extension Channel {
    /// Waits until the kernel has taken all that was written.
    ///
    /// - Throws: `ChannelError` when the connection ends before.
    package func drain() async throws {
        let drained = eventLoop.makePromise(of: Void.self)
        triggerUserOutboundEvent(DeadlineHandler.DrainRequest(), promise: drained)
        try await drained.futureResult.get()
    }
}
