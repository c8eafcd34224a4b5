import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// A server that answers each request as its test says, to be as bad as no real store is.
final class StubStore: Sendable {
    struct Request: Sendable {
        let method: String
        /// Path and query as they were sent.
        let uri: String
        let headers: HTTPHeaders
        let body: [UInt8]
        /// 1 for the first request that came.
        let number: Int

        var text: String { String(decoding: body, as: UTF8.self) }
        /// The region that the signature is for.
        var region: Substring? {
            headers.first(name: "authorization")?.split(separator: "/").dropFirst(2).first
        }
    }

    enum Answer: Sendable {
        case reply(Int, [(String, String)] = [], String = "")
        /// A body that is announced whole, and of which only a part comes before the connection ends.
        case cut(Int, [(String, String)], String, announced: Int)
        /// The end of the connection.
        case hangUp
        /// Nothing, ever.
        case silence
    }

    let port: Int
    private let channel: any Channel
    private let log: Log

    /// Every request so far.
    var requests: [Request] { log.requests.withLock { $0 } }

    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// - Parameter answer: Called once a request is whole, on the server's thread.
    static func start(
        tls: NIOSSLContext? = nil, answer: @escaping @Sendable (Request) -> Answer
    ) async throws -> StubStore {
        let log = Log()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(
                        Handler { head, body in
                            answer(
                                log.add { number in
                                    Request(
                                        method: head.method.rawValue, uri: head.uri,
                                        headers: head.headers, body: body, number: number)
                                })
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return StubStore(channel: channel, log: log)
    }

    private init(channel: any Channel, log: Log) {
        self.channel = channel
        self.log = log
        // A TCP server that is bound has a port.
        port = channel.localAddress!.port!
    }

    deinit {
        channel.close(promise: nil)
    }

    private final class Log: Sendable {
        let requests = Mutex<[Request]>([])

        func add(_ make: (Int) -> Request) -> Request {
            requests.withLock { requests in
                let request = make(requests.count + 1)
                requests.append(request)
                return request
            }
        }
    }
}

private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: (HTTPRequestHead, [UInt8]) -> StubStore.Answer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ answer: @escaping (HTTPRequestHead, [UInt8]) -> StubStore.Answer) {
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let part): body += Array(buffer: part)
        case .end:
            guard let head else { return }
            execute(answer(head, body), to: head, context: context)
        }
    }

    private func execute(
        _ answer: StubStore.Answer, to request: HTTPRequestHead, context: ChannelHandlerContext
    ) {
        switch answer {
        case .reply(let status, let headers, let text):
            var headers = HTTPHeaders(headers)
            if !headers.contains(name: "content-length") {
                headers.add(name: "content-length", value: String(text.utf8.count))
            }
            write(status, headers, request.method == .HEAD ? "" : text, context: context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .cut(let status, let headers, let text, let announced):
            var headers = HTTPHeaders(headers)
            headers.add(name: "content-length", value: String(announced))
            write(status, headers, text, context: context)
            context.flush()
            context.close(promise: nil)
        case .hangUp: context.close(promise: nil)
        case .silence: break
        }
    }

    private func write(
        _ status: Int, _ headers: HTTPHeaders, _ text: String, context: ChannelHandlerContext
    ) {
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !text.isEmpty {
            context.write(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
