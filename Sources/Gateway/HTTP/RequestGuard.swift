import NIOCore
import NIOHTTP1

/// Lets through what is plain HTTP, answers what is not, and ends connections that nothing more is to be read from.
///
/// Sits behind the parser, so that it sees a head before anything is made of it. After a refusal, and after a response that
/// comes before its request was read whole, no byte of the client becomes a request: the rest is thrown away for a moment,
/// so that the response can be read, and the connection is closed.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A handler begins to read a body: a client that waits for that is told.
    struct ContinueRequest: Sendable {}

    private let limits: BorderLimits
    private let rules: RequestRules
    private var phase = Phase.open
    /// The requests that were let through and whose response is not written yet, in their order.
    private var open = CircularBuffer<Exchange>()
    private var requests = 0
    /// Whether the last request that was let through is not read whole yet.
    private var isInRequest = false
    private var lingeredBytes = 0
    private var linger: Scheduled<Void>?

    private enum Phase {
        case open
        /// No further request is let through; the responses to those that were are still written.
        case last
        /// As before, and this is the last answer.
        case refusing(RequestRefusal)
        /// All is written; what comes is thrown away.
        case lingering
    }

    private struct Exchange {
        let version: HTTPVersion
        /// Whether the answer has no body, whatever its handler writes: bytes would be taken for the next answer.
        let isHead: Bool
        var isLast: Bool
        var awaitsContinue: Bool
        var isReadWhole = false
    }

    init(_ limits: BorderLimits) {
        self.limits = limits
        rules = RequestRules(limits: limits)
    }

    func handlerRemoved(context: ChannelHandlerContext) { linger?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        linger?.cancel()
        context.fireChannelInactive()
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch (phase, part) {
        case (.lingering, .body(let bytes)):
            lingeredBytes += bytes.readableBytes
            if lingeredBytes > limits.lingerBytesMax { context.close(promise: nil) }
        case (.open, .head(let head)):
            if let refusal = rules.refusal(of: head) { return refuse(refusal, context) }
            requests += 1
            let isLast =
                head.version == .http1_0 || requests >= limits.requestsMax
                || head.headers.saysClose
            open.append(
                Exchange(
                    version: head.version, isHead: head.method == .HEAD, isLast: isLast,
                    awaitsContinue: head.headers.contains(name: "expect")))
            isInRequest = true
            context.fireChannelRead(data)
        case (.open, .body), (.last, .body), (.refusing, .body):
            // Of the last request that was let through, or of nobody.
            if isInRequest { context.fireChannelRead(data) }
        case (.open, .end), (.last, .end), (.refusing, .end):
            guard isInRequest else { return }
            isInRequest = false
            if !open.isEmpty { open[open.index(before: open.endIndex)].isReadWhole = true }
            if open.last?.isLast == true, case .open = phase { phase = .last }
            context.fireChannelRead(data)
        case (.lingering, _), (.last, .head), (.refusing, .head): break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        // Nobody else asks for bytes that nobody gets.
        if case .lingering = phase { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .lingering = phase, event as? ChannelEvent == .inputClosed {
            context.close(promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError else { return context.fireErrorCaught(error) }
        switch phase {
        // Bytes that are thrown away need not be HTTP.
        case .lingering, .refusing: return
        case .last where !isInRequest: return
        case .open where !isInRequest: refuse(RequestRefusal(error), context)
        case .open, .last:
            // A handler reads this body; it has to hear that it is not whole.
            context.fireErrorCaught(error)
            context.close(promise: nil)
        }
    }

    /// Answers a request that is not let through, after those before it.
    private func refuse(_ refusal: RequestRefusal, _ context: ChannelHandlerContext) {
        phase = .refusing(refusal)
        if open.isEmpty { writeRefusal(refusal, context) }
    }

    private func writeRefusal(_ refusal: RequestRefusal, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(refusal.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(refusal.body))), promise: nil)
        finish(context, nil)
    }

    // MARK: Responses

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        guard !open.isEmpty else {
            // The connection is ending; nobody waits for this.
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head) where !head.status.isInformational:
            head.version = open[open.startIndex].version
            // Without a length the encoder would end the body that is not there.
            let isUnframed =
                open[open.startIndex].isHead && !head.headers.contains(name: "content-length")
            if !open[open.startIndex].isReadWhole || head.headers.saysClose || isUnframed {
                open[open.startIndex].isLast = true
            }
            if open[open.startIndex].isLast {
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body where open[open.startIndex].isHead: promise?.succeed()
        case .head, .body: context.write(data, promise: promise)
        case .end:
            let exchange = open.removeFirst()
            if exchange.isLast || !exchange.isReadWhole {
                open.removeAll()
                finish(context, promise)
            } else if case .refusing(let refusal) = phase, open.isEmpty {
                context.write(data, promise: promise)
                writeRefusal(refusal, context)
            } else {
                context.write(data, promise: promise)
            }
        }
    }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is ContinueRequest else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        defer { promise?.succeed() }
        guard let first = open.first, first.awaitsContinue, !first.isReadWhole else { return }
        open[open.startIndex].awaitsContinue = false
        context.writeAndFlush(
            wrapOutboundOut(
                .head(HTTPResponseHead(version: first.version, status: .continue))), promise: nil)
    }

    /// Ends the last response, and the connection: this side at once, the other when the client has had time to read.
    private func finish(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        phase = .lingering
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            handler.beginLingering(context)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    private func beginLingering(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        linger = context.eventLoop.scheduleTask(in: limits.lingerTime) {
            bound.value.close(promise: nil)
        }
        context.read()
    }
}

@available(*, unavailable)
extension RequestGuard: Sendable {}

extension HTTPResponseStatus {
    /// Whether another head follows this one.
    fileprivate var isInformational: Bool { (100..<200).contains(code) }
}

extension HTTPHeaders {
    /// Whether the sender ends the connection with this message.
    fileprivate var saysClose: Bool {
        self[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
    }
}
