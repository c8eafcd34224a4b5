import NIOCore

/// The codec at the end of a channel's pipeline: it decodes bytes into replies for its link, and passes bytes of commands on.
///
/// Confined to its event loop, like all handlers.
final class RedisChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The link that uses this connection; nil before it is attached and after it drops the connection.
    private var link: RedisLink?
    private var decoder: RESPDecoder
    private var context: ChannelHandlerContext?
    /// The failure that ended the connection before a link was attached.
    private var earlyFailure: LinkFailure?

    init(replyBytesMax: Int) {
        decoder = RESPDecoder(replyBytesMax: replyBytesMax)
    }

    /// Whether the channel accepts more bytes without buffering them.
    var isWritable: Bool { context?.channel.isWritable ?? false }

    /// Completes when the channel has closed; nil afterwards.
    var closed: EventLoopFuture<Void>? { context?.channel.closeFuture }

    /// Reports all events of the channel to `link`.
    func attach(to link: RedisLink) {
        self.link = link
        if let earlyFailure { link.ended(self, earlyFailure) }
    }

    /// Closes the channel and reports no further events.
    func disconnect() {
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
            // A reply can make the link drop this connection; the remaining replies are then discarded.
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
