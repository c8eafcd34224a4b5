import NIOCore
import NIOHTTP1
import Synchronization

/// One connection of a ``StubServer``.
final class StubHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let log: StubServer.Log
    private let answer: (StubServer.Request) -> StubServer.Answer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ log: StubServer.Log, _ answer: @escaping (StubServer.Request) -> StubServer.Answer) {
        self.log = log
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let part): body += Array(buffer: part)
        case .end: if let head { execute(answer(log.add(head, body)), to: head, context) }
        }
    }

    private func execute(
        _ answer: StubServer.Answer, to request: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        switch answer {
        case .reply(let status, let headers, let text):
            var headers = HTTPHeaders(headers)
            if !headers.contains(name: "content-length") {
                headers.add(name: "content-length", value: String(text.utf8.count))
            }
            write(status, headers, request.method == .HEAD ? "" : text, context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .cut(let status, let headers, let text, let announced):
            var headers = HTTPHeaders(headers)
            headers.add(name: "content-length", value: String(announced))
            write(status, headers, text, context)
            context.flush()
            context.close(promise: nil)
        case .huge(let chunks):
            write(200, [:], "", context)
            sendChunks(chunks, 64 << 10, .zero, context)
        case .trickle:
            write(200, [:], "", context)
            sendChunks(.max, 1, .milliseconds(20), context)
        case .silence: break
        case .hangUp: context.close(promise: nil)
        }
    }

    private func sendChunks(
        _ left: Int, _ bytes: Int, _ pause: TimeAmount, _ context: ChannelHandlerContext
    ) {
        guard left > 0 else {
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            return
        }
        let chunk = ByteBuffer(repeating: 0x61, count: bytes)
        let promise = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(chunk))), promise: promise)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        promise.futureResult.whenSuccess {
            let (handler, _) = bound.value
            handler.log.chunks.withLock { $0 += 1 }
            eventLoop.scheduleTask(in: pause) {
                let (handler, context) = bound.value
                if context.channel.isActive { handler.sendChunks(left - 1, bytes, pause, context) }
            }
        }
    }

    private func write(
        _ status: Int, _ headers: HTTPHeaders, _ text: String, _ context: ChannelHandlerContext
    ) {
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !text.isEmpty {
            context.write(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
