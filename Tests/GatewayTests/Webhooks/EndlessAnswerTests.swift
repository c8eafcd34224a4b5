import AccessKeys
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Webhooks

@Suite("Answers without an end") struct EndlessAnswerTests {
    /// Sends the same bytes as long as somebody takes them, once it is asked.
    private final class Flood: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let bytes: ByteBuffer
        private let sent: SentBytes
        private var isAsked = false

        private let start: ByteBuffer

        init(_ start: String, _ text: String, _ sent: SentBytes) {
            self.start = ByteBuffer(string: start)
            bytes = ByteBuffer(string: text)
            self.sent = sent
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isAsked else { return }
            isAsked = true
            context.writeAndFlush(wrapOutboundOut(start), promise: nil)
            send(context)
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) {
            if isAsked { send(context) }
        }

        private func send(_ context: ChannelHandlerContext) {
            while context.channel.isActive, context.channel.isWritable {
                sent.count.withLock { $0 += bytes.readableBytes }
                context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
            }
        }
    }

    private final class SentBytes: Sendable {
        let count = Mutex(0)
    }

    @Test(arguments: [
        "HTTP/1.1 102 Processing\r\nx: \(String(repeating: "x", count: 1000))\r\n\r\n",
        String(repeating: "x", count: 1000),
    ])
    func `an answer that has no end, and no body, ends within bounds`(part: String) async throws {
        let sent = SentBytes()
        let isHead = part.hasPrefix("HTTP")
        let start = isHead ? "" : "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;"
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Flood(start, part, sent))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let message = SignedMessage(id: "msg_1", body: [], seconds: 0, secrets: [WebhookSecret()])
        let answer = try await WebhookFixture.sender(.seconds(120)).send(
            message, to: "http://127.0.0.1:\(port)/", of: .operator)
        #expect(answer.error?.contains("KiB of an answer") == true, "\(answer)")
        // Sockets buffer some megabytes.
        #expect(sent.count.withLock { $0 } < 64 << 20)
        try await server.close()
    }
}
