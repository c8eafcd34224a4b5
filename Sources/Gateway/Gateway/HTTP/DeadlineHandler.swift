import NIOCore
import NIOHTTP1

/// The channel handler that closes connections of clients that take too long, and notifies writers when their bytes are
/// sent.
///
/// Sits behind the parser. One scheduled task per connection checks its deadline; a request within its deadline
/// schedules none.
final class DeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// An outbound event whose promise succeeds when all bytes written before it have left this process.
    struct DrainRequest: Sendable {}

    private let limits: BorderLimits
    private var times: ConnectionTimes
    private var task: Scheduled<Void>?
    private var taskDue: NIODeadline?
    private var drains: [EventLoopPromise<Void>] = []

    init(_ limits: BorderLimits) {
        self.limits = limits
        times = ConnectionTimes(limits, openedAt: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) { arm(context) }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            times.readHead(
                awaitsContinue: head.headers.contains(name: "expect"),
                announced: head.headers.first(name: "content-length").flatMap { Int($0) },
                at: .now())
        case .body(let bytes): times.readBody(bytes.readableBytes, at: .now())
        case .end: times.readEnd()
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        times.readSome(at: .now())
        arm(context)
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        times.wantMore(at: .now())
        arm(context)
        context.read()
    }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        let now = NIODeadline.now()
        switch unwrapOutboundIn(data) {
        case .body(.byteBuffer(let bytes)) where bytes.readableBytes > 0:
            write(bytes, context, promise, now)
            arm(context)
            return
        case .head(let head) where head.status == .continue: times.askForBody(at: now)
        case .end: times.writeEnd(at: now)
        // The length of a head is not known here; it is small.
        case .head, .body: break
        }
        arm(context)
        context.write(data, promise: promise)
    }

    private func write(
        _ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?,
        _ now: NIODeadline
    ) {
        var rest = bytes
        while let piece = rest.readSlice(
            length: min(rest.readableBytes, ConnectionTimes.writtenBytesMax))
        {
            let count = piece.readableBytes
            times.write(count, at: now)
            let isLast = rest.readableBytes == 0
            let sent = (isLast ? promise : nil) ?? context.eventLoop.makePromise()
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            sent.futureResult.whenComplete { _ in bound.value.sent(count) }
            context.write(wrapOutboundOut(.body(.byteBuffer(piece))), promise: sent)
            if isLast { break }
        }
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is DrainRequest, let promise else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        guard context.channel.isActive else { return promise.fail(ChannelError.ioOnClosedChannel) }
        guard times.unsentBytes > 0 else { return promise.succeed() }
        drains.append(promise)
    }

    private func sent(_ bytes: Int) {
        times.sent(bytes, at: .now())
        guard times.unsentBytes <= 0 else { return }
        let waiting = drains
        drains = []
        for promise in waiting { promise.succeed() }
    }

    /// Schedules a check for the next deadline. A task that runs early only schedules again.
    private func arm(_ context: ChannelHandlerContext) {
        guard let due = times.due?.at else { return }
        if let taskDue, taskDue <= due { return }
        task?.cancel()
        taskDue = due
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        task = context.eventLoop.scheduleTask(deadline: due) {
            let (handler, context) = bound.value
            handler.checkDeadline(context)
        }
    }

    private func checkDeadline(_ context: ChannelHandlerContext) {
        (task, taskDue) = (nil, nil)
        guard let due = times.due else { return }
        guard due.at <= .now() else { return arm(context) }
        context.close(promise: nil)
    }

    private func end() {
        task?.cancel()
        (task, taskDue) = (nil, nil)
        let waiting = drains
        drains = []
        for promise in waiting { promise.fail(ChannelError.ioOnClosedChannel) }
    }
}

@available(*, unavailable)
extension DeadlineHandler: Sendable {}
