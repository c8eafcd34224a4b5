import NIOCore
package import NIOHTTP1
import NIOPosix
package import NIOSSL
import Synchronization

/// An HTTP server that answers each request as its test says: an endpoint of webhooks, a collector of traces, a store.
package final class StubServer: Sendable {
    package struct Request: Sendable {
        package let method: String
        /// Path and query as they were sent.
        package let uri: String
        package let headers: HTTPHeaders
        package let body: [UInt8]
        /// 1 for the first request that came.
        package let number: Int

        package func header(_ name: String) -> String { headers.first(name: name) ?? "" }
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    package enum Answer: Sendable {
        /// A status, headers and a body. An answer to HEAD has the length of the body and not its bytes.
        case reply(Int, [(String, String)] = [], String = "")
        /// A body that is announced whole, and of which only a part comes before the connection ends.
        case cut(Int, [(String, String)], String, announced: Int)
        /// A body of this many chunks of 64 KiB, or until the client has had enough.
        case huge(chunks: Int)
        /// A head, and then a byte now and then.
        case trickle
        /// Nothing, ever.
        case silence
        /// The end of the connection.
        case hangUp
    }

    package let port: Int
    private let channel: any Channel
    private let log: Log

    /// Every request so far.
    package var requests: [Request] { log.requests.withLock { $0 } }
    /// The chunks of huge bodies that were sent.
    package var chunksSent: Int { log.chunks.withLock { $0 } }

    /// Starts a server on a free port of 127.0.0.1. It ends when it is released.
    ///
    /// - Parameter answer: Called once a request is whole, on the server's thread.
    package static func start(
        tls: NIOSSLContext? = nil,
        answer: @escaping @Sendable (Request) -> Answer = { _ in .reply(204) }
    ) async throws -> StubServer {
        let log = Log()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(StubHandler(log, answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return StubServer(channel: channel, log: log)
    }

    private init(channel: any Channel, log: Log) {
        self.channel = channel
        self.log = log
        // A TCP server that is bound has a port.
        port = channel.localAddress!.port!
    }

    deinit { channel.close(promise: nil) }

    final class Log: Sendable {
        let requests = Mutex<[Request]>([])
        let chunks = Mutex(0)

        func add(_ head: HTTPRequestHead, _ body: [UInt8]) -> Request {
            requests.withLock { requests in
                let request = Request(
                    method: head.method.rawValue, uri: head.uri, headers: head.headers,
                    body: body, number: requests.count + 1)
                requests.append(request)
                return request
            }
        }
    }
}
