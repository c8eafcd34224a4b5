import NIOCore

/// The codec at the end of a channel's pipeline: bytes to replies for its link, and back.
///
/// Confined to its event loop, as all handlers are.
final class RedisChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The link that uses this connection; nil before it takes it and after it drops it.
    private var link: RedisLink?
    private var decoder: RESPDecoder
    private var context: ChannelHandlerContext?
    /// What ended the connection before the link took it.
    private var earlyFailure: LinkFailure?

    init(replyBytesMax: Int) {
        decoder = RESPDecoder(replyBytesMax: replyBytesMax)
    }

    /// Whether the channel takes more bytes without piling them up.
    var isWritable: Bool { context?.channel.isWritable ?? false }

    /// Done when the channel has closed; nil once it has.
    var closed: EventLoopFuture<Void>? { context?.channel.closeFuture }

    /// Gives all that happens on the channel to `link`.
    func attach(to link: RedisLink) {
        self.link = link
        if let earlyFailure { link.ended(self, earlyFailure) }
    }

    /// Closes the channel and reports no more of it.
    func drop() {
        link = nil
        context?.close(promise: nil)
    }

    func write(_ bytes: ByteBuffer) {
        context?.write(wrapOutboundOut(bytes), promise: nil)
    }

    func flush() {
        context?.flush()
    }

    // MARK: ChannelInboundHandler

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do throws(RedisError) {
            try unwrapInboundIn(data).withUnsafeReadableBytes { bytes throws(RedisError) in
                try decoder.feed(bytes)
            }
            // A reply can make the link drop this connection; the rest is then nobody's.
            while let link, let reply = try decoder.next() {
                link.received(reply, on: self)
            }
        } catch {
            report(LinkFailure(error, consequence: .passing))
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isWritable { link?.flush() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        report(.passing("the server closed the connection"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        report(LinkFailure(transport: error))
        context.close(promise: nil)
    }

    private func report(_ failure: LinkFailure) {
        if let link {
            link.ended(self, failure)
        } else if earlyFailure == nil {
            earlyFailure = failure
        }
    }
}
