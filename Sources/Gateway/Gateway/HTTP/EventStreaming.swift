import Edits
package import Files
package import Hummingbird
package import NIOCore
import ServiceLifecycle
import Synchronization

/// Server-Sent Events as a response. The stream ends when the client disconnects, sends heartbeats, and has no queue.
///
/// An event is written after the kernel has accepted the one before, so a slow client slows down the producer of
/// events. A client that accepts nothing for too long is disconnected.
package struct EventStreaming: Sendable {
    /// The time without an event after which a comment is sent, because proxies close silent connections.
    package var heartbeat = Duration.seconds(15)
    /// The longest time that an event may wait for its client.
    package var slowest = Duration.seconds(30)
    /// The most bytes of one event.
    package static let eventBytesMax = 256 << 10

    /// Creates the gateway's default.
    package init() {}

    /// Returns a response that lasts until its events end or the client disconnects.
    ///
    /// - Parameters:
    ///   - request: the request, whose body is unread.
    ///   - events: sends events; cancelled when the client disconnects and when the server shuts down.
    package func response(
        to request: Request, over channel: any Channel,
        _ events: @escaping @Sendable (EventSink) async throws -> Void
    ) -> Response {
        let body = ResponseBody { writer in
            let sink = EventSink(SharedWriter(writer: writer), channel)
            // Sends the head to the client before the first event.
            try await sink.comment()
            try await request.body.consumeWithCancellationOnInboundClose { _ in
                try await cancelWhenGracefulShutdown {
                    try await run(sink, channel, events)
                }
            }
            try await sink.finish()
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store",
                .connection: "close",
            ], body: body)
    }

    private func run(
        _ sink: EventSink, _ channel: any Channel,
        _ events: @escaping @Sendable (EventSink) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await events(sink) }
            group.addTask {
                while true {
                    try await Task.sleep(for: min(heartbeat, slowest) / 4)
                    switch sink.quiet {
                    case .writing(let time) where time > slowest:
                        channel.close(promise: nil)
                        throw ChannelError.ioOnClosedChannel
                    case .writing: break
                    case .silent(let time):
                        if time >= heartbeat { try await sink.comment() }
                    }
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}

/// A writer that two tasks share. Hummingbird's writer only passes parts to the channel, which accepts calls from any
/// thread, and it has no mutable state.
private struct SharedWriter: @unchecked Sendable {
    let writer: any ResponseBodyWriter
}

package final class EventSink: Sendable {
    private let writer: SharedWriter
    private let channel: any Channel
    private let state = Mutex(State())

    private struct State {
        var last = ContinuousClock.now
        var writes = 0
    }

    /// The time for which nothing has been sent.
    enum Quiet {
        /// There was nothing to send.
        case silent(Duration)
        /// The client has not accepted the last write.
        case writing(Duration)
    }

    fileprivate init(_ writer: SharedWriter, _ channel: any Channel) {
        (self.writer, self.channel) = (writer, channel)
    }

    var quiet: Quiet {
        let (last, writes) = state.withLock { ($0.last, $0.writes) }
        return writes > 0 ? .writing(.now - last) : .silent(.now - last)
    }

    /// Sends an event after the client has accepted the one before.
    ///
    /// - Parameters:
    ///   - id: one line; nil for an event at which no client resumes.
    ///   - name: one line; nil for `message`.
    ///   - data: text of any number of lines.
    /// - Throws: ``BodyRefusal/oversized(bytesMax:)``; the connection's error.
    package func send(id: String? = nil, event name: String? = nil, data: String) async throws {
        try await send(Self.frame(id: id, event: name, data: data))
    }

    /// Sends frames of ``frame(id:event:data:)`` after the client has accepted those before.
    func send(_ frames: ByteBuffer) async throws { try await write(frames) }

    /// Returns the bytes of an event, which are the same for all clients.
    ///
    /// - Throws: ``BodyRefusal/oversized(bytesMax:)``.
    static func frame(
        id: String? = nil, event name: String? = nil, data: String
    ) throws(BodyRefusal) -> ByteBuffer {
        guard data.utf8.count <= EventStreaming.eventBytesMax else {
            throw BodyRefusal.oversized(bytesMax: EventStreaming.eventBytesMax)
        }
        var bytes = ByteBuffer()
        if let id { bytes.writeField("id", id) }
        if let name { bytes.writeField("event", name) }
        for line in data.utf8.split(omittingEmptySubsequences: false, whereSeparator: Self.isBreak)
        {
            bytes.writeField("data", String(Substring(line)))
        }
        bytes.writeString("\n")
        return bytes
    }

    /// Sends a comment, which clients ignore.
    func comment() async throws { try await write(ByteBuffer(string: ":\n\n")) }

    func finish() async throws { try await writer.writer.finish(nil) }

    private func write(_ bytes: ByteBuffer) async throws {
        state.withLock {
            if $0.writes == 0 { $0.last = .now }
            $0.writes += 1
        }
        defer {
            state.withLock {
                $0.writes -= 1
                $0.last = .now
            }
        }
        var writer = writer.writer
        try await writer.write(bytes)
        try await channel.drain()
    }

    fileprivate static func isBreak(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}

extension ByteBuffer {
    /// Writes a field of one line, without line breaks and NUL.
    fileprivate mutating func writeField(_ name: String, _ value: String) {
        writeString(name + ": ")
        writeBytes(value.utf8.filter { !EventSink.isBreak($0) && $0 != 0 })
        writeString("\n")
    }
}

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
