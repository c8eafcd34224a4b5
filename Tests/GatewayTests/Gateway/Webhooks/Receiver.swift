import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A receiver of webhooks: takes every message with 204.
final class Receiver: Sendable {
    struct Message: Sendable {
        let headers: HTTPHeaders
        let body: String

        func header(_ name: String) -> String { headers.first(name: name) ?? "" }
        var id: String { header("webhook-id") }
    }

    private final class Log: Sendable {
        let messages = Mutex<[Message]>([])
    }

    private let port: Int
    private let channel: any Channel
    private let log: Log

    /// Every message so far.
    var messages: [Message] { log.messages.withLock { $0 } }
    var url: String { "http://127.0.0.1:\(port)/hooks" }

    static func start() async throws -> Receiver {
        let log = Log()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return Receiver(channel, log)
    }

    private init(_ channel: any Channel, _ log: Log) {
        self.channel = channel
        self.log = log
        // A TCP server that is bound has a port.
        port = channel.localAddress!.port!
    }

    deinit { channel.close(promise: nil) }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let log: Log
        private var headers = HTTPHeaders()
        private var body = ""

        init(_ log: Log) { self.log = log }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): (headers, body) = (head.headers, "")
            case .body(let part): body += String(buffer: part)
            case .end:
                log.messages.withLock { $0.append(Message(headers: headers, body: body)) }
                let head = HTTPResponseHead(version: .http1_1, status: .noContent)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
