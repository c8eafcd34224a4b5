import NIOCore
import NIOSSL

/// Ends a connection that receives more bytes of an answer than any answer needs, whatever they are.
///
/// The body is bounded where it is read. Heads of 1xx, extensions of chunks and trailers are no body, and the parser passes over them
/// without end: a receiver sent gigabytes of them in the time of a delivery, which took a core.
final class AnswerBound: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = Any
    typealias OutboundOut = Any

    /// The most bytes between two requests: more than a body of which ``WebhookSender/answerBytesMax`` are read, and what the socket
    /// hands over beyond that.
    static let bytesMax = 1 << 20

    struct TooLong: Error, CustomStringConvertible {
        var description: String { "more than \(AnswerBound.bytesMax >> 10) KiB of an answer" }
    }

    private var bytes = 0

    /// Adds one to a new connection, before its HTTP and behind its TLS, which writes by itself, too.
    static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            do {
                let tls = try pipeline.handler(type: NIOSSLClientHandler.self)
                try pipeline.addHandler(AnswerBound(), position: .after(tls))
            } catch ChannelPipelineError.notFound {
                try pipeline.addHandler(AnswerBound(), position: .first)
            }
        }
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        bytes = 0
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytes
        guard bytes <= Self.bytesMax else {
            context.fireErrorCaught(TooLong())
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }
}
