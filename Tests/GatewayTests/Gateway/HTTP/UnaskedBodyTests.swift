import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Gateway

/// How much of a body is read before anybody wants it.
@Suite("Bodies that nobody has asked for") struct UnaskedBodyTests {
    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = HTTPServerResponsePart

        var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    private func counted(
        _ headers: HTTPHeaders, _ steps: (EmbeddedChannel, Reads) throws -> Void
    ) throws {
        let reads = Reads()
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([reads, RequestGuard(BorderLimits())])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(
            HTTPServerRequestPart.head(
                HTTPRequestHead(
                    version: .http1_1, method: .PUT, uri: "/",
                    headers: HTTPHeaders([("Host", "a")] + headers.map { ($0.name, $0.value) }))))
        reads.count = 0
        try steps(channel, reads)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test(arguments: [
        HTTPHeaders([("Content-Length", "1000000")]),
        HTTPHeaders([("Transfer-Encoding", "chunked")]),
    ])
    func `a large one is read when its handler asks`(_ headers: HTTPHeaders) throws {
        try counted(headers) { channel, reads in
            channel.read()
            #expect(reads.count == 0)
            channel.pipeline.triggerUserOutboundEvent(
                RequestGuard.ContinueRequest(), promise: nil)
            #expect(reads.count == 1)
            channel.read()
            #expect(reads.count == 2)
        }
    }

    @Test func `what one read brings is one part, into however many chunks it is cut`() throws {
        try counted(HTTPHeaders([("Transfer-Encoding", "chunked")])) { channel, _ in
            let pipeline = channel.pipeline.syncOperations
            _ = try channel.readInbound(as: HTTPServerRequestPart.self)
            for _ in 0..<2 {
                for letter in ["a", "b", "c"] {
                    pipeline.fireChannelRead(
                        NIOAny(HTTPServerRequestPart.body(ByteBuffer(string: letter))))
                }
                #expect(try channel.readInbound(as: HTTPServerRequestPart.self) == nil)
                pipeline.fireChannelReadComplete()
                #expect(
                    try channel.readInbound(as: HTTPServerRequestPart.self)
                        == HTTPServerRequestPart.body(ByteBuffer(string: "abc")))
            }
            // The end comes behind all of it, also in the same read.
            pipeline.fireChannelRead(
                NIOAny(HTTPServerRequestPart.body(ByteBuffer(string: "d"))))
            pipeline.fireChannelRead(NIOAny(HTTPServerRequestPart.end(nil)))
            pipeline.fireChannelReadComplete()
            #expect(
                try channel.readInbound(as: HTTPServerRequestPart.self)
                    == HTTPServerRequestPart.body(ByteBuffer(string: "d")))
            #expect(
                try channel.readInbound(as: HTTPServerRequestPart.self)
                    == HTTPServerRequestPart.end(nil))
        }
    }

    @Test func `a small one is read at once`() throws {
        try counted(HTTPHeaders([("Content-Length", "1000")])) { channel, reads in
            channel.read()
            #expect(reads.count == 1)
        }
    }

    @Test func `that of a call that is refused is read only to be discarded`() throws {
        try counted(HTTPHeaders([("Content-Length", "1000000")])) { channel, reads in
            channel.read()
            channel.write(
                HTTPServerResponsePart.head(
                    HTTPResponseHead(version: .http1_1, status: .tooManyRequests)), promise: nil)
            channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
            #expect(reads.count == 1)
        }
    }
}
