package import Hummingbird
package import NIOCore
import ServiceLifecycle
import Synchronization

/// Server-Sent Events as a response: ended when the client goes, kept alive while nothing happens, without a queue.
///
/// An event is written when the kernel has taken the one before, so whoever makes events waits for a slow client; one that
/// takes nothing for too long is cut off.
package struct EventStreaming: Sendable {
    /// Time without an event after which a comment is sent: proxies end what is silent.
    package var heartbeat = Duration.seconds(15)
    /// Longest time that an event may wait for its client.
    package var slowest = Duration.seconds(30)
    /// Most bytes of one event.
    package static let eventBytesMax = 256 << 10

    /// Streams as the gateway has them.
    package init() {}

    /// A response that lasts until its events end or the client goes away.
    ///
    /// - Parameters:
    ///   - request: whose body nobody has read.
    ///   - events: sends events; cancelled when the client goes away and when the server shuts down.
    package func response(
        to request: Request, over channel: any Channel,
        _ events: @escaping @Sendable (EventSink) async throws -> Void
    ) -> Response {
        let body = ResponseBody { writer in
            let sink = EventSink(SharedWriter(writer: writer), channel)
            // Clients see the head before the first event.
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

/// A writer that two tasks use: Hummingbird's own only hands parts to the channel, which takes calls of any thread, and
/// it has no state that changes.
private struct SharedWriter: @unchecked Sendable {
    let writer: any ResponseBodyWriter
}

/// Where a stream's events go.
package final class EventSink: Sendable {
    private let writer: SharedWriter
    private let channel: any Channel
    private let state = Mutex(State())

    private struct State {
        var last = ContinuousClock.now
        var writes = 0
    }

    /// How long nothing has been sent.
    enum Quiet {
        /// Nothing was to be sent.
        case silent(Duration)
        /// The client has not taken what was.
        case writing(Duration)
    }

    fileprivate init(_ writer: SharedWriter, _ channel: any Channel) {
        (self.writer, self.channel) = (writer, channel)
    }

    var quiet: Quiet {
        let (last, writes) = state.withLock { ($0.last, $0.writes) }
        return writes > 0 ? .writing(.now - last) : .silent(.now - last)
    }

    /// Sends an event when the client has taken the one before.
    ///
    /// - Parameters:
    ///   - id: one line; nil for an event that nobody resumes at.
    ///   - name: one line; nil for `message`.
    ///   - data: text of any lines.
    /// - Throws: ``BodyRefusal/oversized(bytesMax:)``, and the connection's error.
    package func send(id: String? = nil, event name: String? = nil, data: String) async throws {
        try await send(Self.frame(id: id, event: name, data: data))
    }

    /// Sends events as ``frame(id:event:data:)`` has made them, when the client has taken those before.
    func send(_ frames: ByteBuffer) async throws { try await write(frames) }

    /// The bytes of an event, which are the same for all who get it.
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

    /// Sends what clients pass over.
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
    /// Writes a field of one line; what would end the line is left out.
    fileprivate mutating func writeField(_ name: String, _ value: String) {
        writeString(name + ": ")
        writeBytes(value.utf8.filter { !EventSink.isBreak($0) && $0 != 0 })
        writeString("\n")
    }
}
