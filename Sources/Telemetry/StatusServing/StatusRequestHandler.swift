import NIOCore
import NIOHTTP1

/// Answers the single request of a connection and closes it.
final class StatusRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let pages: [StatusPage]
    private let hasAsked: () -> Void
    private var head: HTTPRequestHead?
    private var hasAnswered = false

    /// - Parameter hasAsked: Called when a complete request has arrived.
    init(_ pages: [StatusPage], hasAsked: @escaping () -> Void) {
        self.pages = pages
        self.hasAsked = hasAsked
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = self.head ?? head
        case .body:
            answer(.sentence(.payloadTooLarge, "A request here has no body."), context)
        case .end: answerRequest(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error as? HTTPParserError {
        case .headerOverflow?:
            answer(
                .sentence(
                    .requestHeaderFieldsTooLarge,
                    "The request's headers are longer than \(StatusServer.headBytesMax) bytes or "
                        + "more than \(StatusServer.headersMax)."), context)
        case _?: answer(.sentence(.badRequest, "This is not HTTP/1.1: \(error)."), context)
        case nil: StatusServer.end(context.channel)
        }
    }

    private func answerRequest(_ context: ChannelHandlerContext) {
        guard let head, !hasAnswered else { return }
        hasAsked()
        guard head.method == .GET || head.method == .HEAD else {
            var refusal = StatusAnswer.sentence(
                .methodNotAllowed,
                "\(head.method.rawValue) is not allowed here: nothing can be changed. Use GET.")
            refusal.headers = [("Allow", "GET, HEAD")]
            return answer(refusal, context)
        }
        let path = head.uri.prefix { $0 != "?" }
        guard let page = pages.first(where: { $0.path == path }) else {
            return answer(
                .sentence(
                    .notFound,
                    "There is no page of that name; there are "
                        + pages.map(\.path).joined(separator: ", ") + "."), context)
        }
        let promise = context.eventLoop.makePromise(of: StatusAnswer.self)
        promise.completeWithTask { await page.answer() }
        promise.futureResult.assumeIsolated().whenSuccess { self.answer($0, context) }
    }

    private func answer(_ answer: StatusAnswer, _ context: ChannelHandlerContext) {
        guard !hasAnswered else { return }
        hasAnswered = true
        let body = context.channel.allocator.buffer(string: answer.body)
        let headers =
            [
                ("Content-Type", answer.mediaType), ("Content-Length", "\(body.readableBytes)"),
                ("Cache-Control", "no-store"), ("Connection", "close"),
            ] + answer.headers
        let head = HTTPResponseHead(
            version: .http1_1, status: answer.status, headers: HTTPHeaders(headers))
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if self.head?.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in
            StatusServer.end(context.channel)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
    }
}
