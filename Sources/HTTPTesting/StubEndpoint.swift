import NIOCore
package import NIOHTTP1
import NIOPosix
import Synchronization

/// A receiver of requests over HTTP that answers each as its test says.
package final class StubEndpoint: Sendable {
    package struct Message: Sendable {
        package let headers: HTTPHeaders
        package let body: [UInt8]
        /// 1 for the first message that came.
        package let number: Int

        package func header(_ name: String) -> String { headers.first(name: name) ?? "" }
        package var id: String { header("webhook-id") }
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    package enum Answer: Sendable {
        case reply(Int, [(String, String)] = [], body: String = "")
        /// A body of this many parts of 64 KiB, or until the client has had enough.
        case huge(parts: Int)
        /// A head, and then a byte now and then.
        case trickle
        /// Nothing, ever.
        case silence
        case hangUp
    }

    package let port: Int
    private let channel: any Channel
    private let log: Log

    /// Every message so far.
    package var messages: [Message] { log.messages.withLock { $0 } }
    /// Parts of a huge body that the client took.
    package var partsTaken: Int { log.parts.withLock { $0 } }

    package var url: String { "http://127.0.0.1:\(port)/hooks" }

    package static func start(
        answer: @escaping @Sendable (Message) -> Answer = { _ in .reply(204) }
    ) async throws -> StubEndpoint {
        let log = Log()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(log, answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return StubEndpoint(channel: channel, log: log)
    }

    private init(channel: any Channel, log: Log) {
        self.channel = channel
        self.log = log
        // A TCP server that is bound has a port.
        port = channel.localAddress!.port!
    }

    deinit { channel.close(promise: nil) }

    final class Log: Sendable {
        let messages = Mutex<[Message]>([])
        let parts = Mutex(0)

        func add(_ head: HTTPRequestHead, _ body: [UInt8]) -> Message {
            messages.withLock { messages in
                let message = Message(
                    headers: head.headers, body: body, number: messages.count + 1)
                messages.append(message)
                return message
            }
        }
    }
}

private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let log: StubEndpoint.Log
    private let answer: (StubEndpoint.Message) -> StubEndpoint.Answer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ log: StubEndpoint.Log, _ answer: @escaping (StubEndpoint.Message) -> StubEndpoint.Answer)
    {
        self.log = log
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let part): body += Array(buffer: part)
        case .end: if let head { execute(answer(log.add(head, body)), context) }
        }
    }

    private func execute(_ answer: StubEndpoint.Answer, _ context: ChannelHandlerContext) {
        switch answer {
        case .reply(let status, let headers, let body):
            write(
                status, HTTPHeaders(headers + [("content-length", "\(body.utf8.count)")]), context)
            if !body.isEmpty {
                let part = ByteBuffer(string: body)
                context.write(wrapOutboundOut(.body(.byteBuffer(part))), promise: nil)
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .huge(let parts):
            write(200, [:], context)
            sendPart(parts, 64 << 10, .zero, context)
        case .trickle:
            write(200, [:], context)
            sendPart(.max, 1, .milliseconds(20), context)
        case .silence: break
        case .hangUp: context.close(promise: nil)
        }
    }

    private func sendPart(
        _ left: Int, _ bytes: Int, _ pause: TimeAmount, _ context: ChannelHandlerContext
    ) {
        guard left > 0 else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return
        }
        let part = ByteBuffer(repeating: 0x61, count: bytes)
        let promise = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(part))), promise: promise)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        promise.futureResult.whenSuccess {
            let (handler, _) = bound.value
            handler.log.parts.withLock { $0 += 1 }
            eventLoop.scheduleTask(in: pause) {
                let (handler, context) = bound.value
                if context.channel.isActive { handler.sendPart(left - 1, bytes, pause, context) }
            }
        }
    }

    private func write(_ status: Int, _ headers: HTTPHeaders, _ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
