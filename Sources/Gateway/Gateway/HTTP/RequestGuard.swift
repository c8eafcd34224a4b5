import NIOCore
import NIOHTTP1

/// The channel handler that passes valid HTTP requests, refuses others, and closes connections from which nothing more
/// is to be read.
///
/// Sits behind the parser, so that it sees a head before any other handler. After a refusal, and after a response that
/// was sent before its request was read completely, no byte of the client becomes a request. The rest is discarded for
/// a moment, so that the client can read the response, and then the connection is closed.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// An event: a handler begins to read a body, so more of it is read, and a client that waits for 100 Continue receives it.
    struct ContinueRequest: Sendable {}

    private let limits: BorderLimits
    private let rules: RequestRules
    private var phase = Phase.open
    /// The passed requests whose responses are not fully written, in order.
    private var open = CircularBuffer<Exchange>()
    private var requests = 0
    /// Whether the last passed request is not fully read yet.
    private var isInRequest = false
    /// Whether a read waits until a handler asks for its body.
    private var isReadHeld = false
    /// The bytes of a body that one read brought. The client chooses into how many chunks it is cut, and each part that is passed
    /// costs some microseconds: 1 MB in chunks of a byte took seconds of a core.
    private var collected: ByteBuffer?
    private var lingeredBytes = 0
    private var linger: Scheduled<Void>?

    private enum Phase {
        case open
        /// No further request is passed; the responses to the passed ones are still written.
        case last
        /// The same, and this refusal is the last response.
        case refusing(RequestRefusal)
        /// All responses are written; arriving bytes are discarded.
        case lingering
    }

    private struct Exchange {
        let version: HTTPVersion
        /// Whether the response has no body, even if its handler writes one. The client would parse these bytes as the
        /// next response.
        let isHead: Bool
        var isLast: Bool
        var awaitsContinue: Bool
        /// Whether its body is read no further until a handler asks for it.
        var awaitsDemand: Bool
        var isReadWhole = false
    }

    init(_ limits: BorderLimits) {
        self.limits = limits
        rules = RequestRules(limits: limits)
    }

    func handlerRemoved(context: ChannelHandlerContext) { linger?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        linger?.cancel()
        passCollected(context)
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
                || head.headers.requestsClose
            open.append(
                Exchange(
                    version: head.version, isHead: head.method == .HEAD, isLast: isLast,
                    awaitsContinue: head.headers.contains(name: "expect"),
                    awaitsDemand: limits.awaitsDemand(
                        length: head.headers.first(name: "content-length"),
                        isChunked: head.headers.contains(name: "transfer-encoding"))))
            isInRequest = true
            context.fireChannelRead(data)
        case (.open, .body(var bytes)), (.last, .body(var bytes)), (.refusing, .body(var bytes)):
            // The part belongs to the last passed request, or to none.
            guard isInRequest else { return }
            if collected?.writeBuffer(&bytes) == nil { collected = bytes }
        case (.open, .end), (.last, .end), (.refusing, .end):
            guard isInRequest else { return }
            passCollected(context)
            isInRequest = false
            if !open.isEmpty { open[open.index(before: open.endIndex)].isReadWhole = true }
            if open.last?.isLast == true, case .open = phase { phase = .last }
            context.fireChannelRead(data)
        case (.lingering, _), (.last, .head), (.refusing, .head): break
        }
    }

    func read(context: ChannelHandlerContext) {
        if let last = open.last, last.awaitsDemand, !last.isReadWhole {
            isReadHeld = true
        } else {
            context.read()
        }
    }

    /// Passes what was collected of a body, as one part.
    private func passCollected(_ context: ChannelHandlerContext) {
        guard let bytes = collected else { return }
        collected = nil
        context.fireChannelRead(wrapInboundOut(.body(bytes)))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passCollected(context)
        context.fireChannelReadComplete()
        // No other handler requests the bytes that are discarded.
        if case .lingering = phase { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .lingering = phase, event as? ChannelEvent == .inputClosed {
            context.close(promise: nil)
            return
        }
        passCollected(context)
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError else { return context.fireErrorCaught(error) }
        switch phase {
        // Discarded bytes need not be valid HTTP.
        case .lingering, .refusing: return
        case .last where !isInRequest: return
        case .open where !isInRequest: refuse(RequestRefusal(error), context)
        case .open, .last:
            // A handler is reading this body and must learn that it is incomplete.
            passCollected(context)
            context.fireErrorCaught(error)
            context.close(promise: nil)
        }
    }

    /// Sends the refusal of a request after the responses to those before it.
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
            // The connection is closing, and no client waits for this part.
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head) where !head.status.isInformational:
            head.version = open[open.startIndex].version
            // Without a length, the encoder would write the end of a body that does not exist.
            let isUnframed =
                open[open.startIndex].isHead && !head.headers.contains(name: "content-length")
            if !open[open.startIndex].isReadWhole || head.headers.requestsClose || isUnframed {
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
        guard let first = open.first, !first.isReadWhole else { return }
        open[open.startIndex].awaitsDemand = false
        if isReadHeld {
            isReadHeld = false
            context.read()
        }
        guard first.awaitsContinue else { return }
        open[open.startIndex].awaitsContinue = false
        context.writeAndFlush(
            wrapOutboundOut(
                .head(HTTPResponseHead(version: first.version, status: .continue))), promise: nil)
    }

    /// Ends the last response and closes the connection: the write side at once, the read side after the client has had
    /// time to read.
    private func finish(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        (phase, collected) = (.lingering, nil)
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
    /// Whether the final head follows this one.
    fileprivate var isInformational: Bool { (100..<200).contains(code) }
}

extension HTTPHeaders {
    /// Whether the sender closes the connection after this message.
    fileprivate var requestsClose: Bool {
        self[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
    }
}

extension BorderLimits {
    /// Returns whether a body is read only when a handler asks for it.
    ///
    /// - Parameter length: the value of Content-Length; nil without one.
    func awaitsDemand(length: String?, isChunked: Bool) -> Bool {
        isChunked || length.flatMap { Int($0) } ?? 0 > unaskedBytesMax
    }
}
