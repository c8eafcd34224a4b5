import NIOCore
import NIOPosix
import Synchronization

@testable import Redis

/// A server that answers each command as its test says, to be as bad as no real one is.
final class FakeServer: Sendable {
    struct Command: Sendable {
        /// 1 for the first connection that was accepted.
        let connection: Int
        let words: [String]
    }

    enum Answer: Sendable {
        /// Bytes, sent as one.
        case bytes(String)
        /// Bytes, each piece in a packet of its own.
        case pieces([String])
        /// Bytes, and then the end of the connection.
        case lastBytes(String)
        /// No answer to this command and to none that comes after it on the connection.
        case silence
        /// No answer, and nothing more is read on this connection.
        case stopsReading
    }

    /// Each command except the login's PING, once it has arrived.
    let arrivals: AsyncStream<Command>
    let port: Int
    private let channel: any Channel

    var url: String { "redis://127.0.0.1:\(port)" }

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - login: The answer to PING.
    ///   - answer: The answer to any other command; called on the server's thread.
    static func start(
        login: Answer = .bytes("+PONG\r\n"),
        answer: @escaping @Sendable (Command) -> Answer
    ) async throws -> FakeServer {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Command.self)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [counter = Counter()] channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = counter.next()
                    try channel.pipeline.syncOperations.addHandler(
                        Handler { words in
                            if words == ["PING"] { return login }
                            let command = Command(connection: number, words: words)
                            arrived.yield(command)
                            return answer(command)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return FakeServer(channel: channel, arrivals: arrivals)
    }

    private init(channel: any Channel, arrivals: AsyncStream<Command>) {
        self.channel = channel
        self.arrivals = arrivals
        // A TCP server that is bound has a port.
        port = channel.localAddress!.port!
    }

    deinit {
        channel.close(promise: nil)
    }

    /// The reply to ECHO.
    static func bulk(_ text: String) -> String {
        "$\(text.utf8.count)\r\n\(text)\r\n"
    }
}

private final class Counter: Sendable {
    private let value = Atomic(0)
    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}

private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var decoder = RESPDecoder(replyBytesMax: .max)
    private let answer: ([String]) -> FakeServer.Answer
    private var isSilent = false

    init(_ answer: @escaping ([String]) -> FakeServer.Answer) {
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            // A command has the form of a reply: an array of bulk strings.
            try unwrapInboundIn(data).withUnsafeReadableBytes { try decoder.feed($0) }
            while context.channel.isActive, !isSilent, let words = try decoder.next()?.array {
                try execute(answer(words.compactMap(\.string)), context: context)
            }
        } catch {
            context.close(promise: nil)
        }
        context.flush()
    }

    private func execute(_ answer: FakeServer.Answer, context: ChannelHandlerContext) throws {
        switch answer {
        case .bytes(let text): context.write(wrap(text), promise: nil)
        case .pieces(let texts):
            for text in texts { context.writeAndFlush(wrap(text), promise: nil) }
        case .lastBytes(let text):
            context.writeAndFlush(wrap(text), promise: nil)
            context.close(promise: nil)
        case .silence: isSilent = true
        case .stopsReading:
            try context.channel.syncOptions?.setOption(.autoRead, value: false)
        }
    }

    private func wrap(_ text: String) -> NIOAny {
        wrapOutboundOut(ByteBuffer(string: text))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
