import FoundationEssentials
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
public import ServiceLifecycle
import Synchronization

/// The status port: a small HTTP server for monitoring a worker or a gateway.
///
/// It serves one request per connection, `GET` or `HEAD`. It runs on the process's event loops and shares no thread with the
/// heartbeat. No request can stop the process.
public struct StatusServer: Service {
    /// The maximum number of connections; a further one closes the oldest connection without a request.
    public static let connectionsMax = 32
    /// The maximum time from a connection to the end of its request: a probe sends the request at once.
    static let requestTimeMax: TimeAmount = .seconds(2)
    /// The maximum lifetime of a connection, idle or not: longer than any page takes.
    static let connectionTimeMax: TimeAmount = .seconds(10)
    /// The maximum size in bytes of one header, and of the request line with all headers.
    static let headBytesMax = 8 << 10
    /// The maximum number of headers of a request.
    static let headersMax = 64
    /// The number of connections that the kernel queues until they are accepted.
    private static let backlog: Int32 = 64

    private let channel: any Channel
    private let logger: Logger

    /// The address of the port: `127.0.0.1:9110`.
    public let address: String

    /// Opens the port; pages are served from now on.
    ///
    /// - Parameters:
    ///   - host: An address of this machine or a name of one.
    ///   - port: The port; 0 selects any free one.
    /// - Throws: `StatusPortError` if the port cannot be opened.
    public static func open(
        host: String, port: Int, pages: [StatusPage], logger: Logger
    ) async throws -> StatusServer {
        try await open(
            host: host, port: port, pages: pages, requestTimeMax: requestTimeMax, logger: logger)
    }

    /// Opens the port with another time limit for requests.
    static func open(
        host: String, port: Int, pages: [StatusPage], requestTimeMax: TimeAmount, logger: Logger
    ) async throws -> StatusServer {
        let table = ConnectionTable(max: connectionsMax)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: backlog)
            // A restarted worker must not wait until the kernel forgets old connections.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try prepare(channel, table, pages, requestTimeMax)
                }
            }
        do {
            return StatusServer(
                try await bootstrap.bind(host: host, port: port).get(), logger)
        } catch {
            throw StatusPortError(
                description: "the status port cannot be opened at \(host) port \(port): \(error). "
                    + "Give another --status-port or --status-address.")
        }
    }

    private init(_ channel: any Channel, _ logger: Logger) {
        self.channel = channel
        self.logger = logger
        let local = channel.localAddress
        let host = local?.ipAddress ?? "?"
        address = (host.contains(":") ? "[\(host)]" : host) + ":\(local?.port ?? 0)"
    }

    private static func prepare(
        _ channel: any Channel, _ table: ConnectionTable, _ pages: [StatusPage],
        _ requestTimeMax: TimeAmount
    ) throws {
        let (number, leaving) = table.enter(channel)
        if let leaving { end(leaving) }
        let end = channel.eventLoop.scheduleTask(in: connectionTimeMax) { Self.end(channel) }
        let silence = channel.eventLoop.scheduleTask(in: requestTimeMax) { Self.end(channel) }
        channel.closeFuture.whenComplete { _ in
            table.leave(number)
            end.cancel()
            silence.cancel()
        }
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = headBytesMax
        limits.maxHeaderListSize = headBytesMax
        limits.maxHeaderFieldCount = headersMax
        let pipeline = channel.pipeline.syncOperations
        // The handler below answers requests that cannot be parsed, with a sentence.
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
        try pipeline.addHandler(
            StatusRequestHandler(pages) {
                table.asked(number)
                silence.cancel()
            })
    }

    /// Ends a connection so that the peer notices it.
    ///
    /// Closing it is not enough: a process that was started meanwhile may have inherited the socket, and then the kernel does not
    /// notify the peer until that process ends, too. A shutdown notifies the peer at once.
    static func end(_ channel: any Channel) {
        channel.close(mode: .output).whenComplete { _ in channel.close(promise: nil) }
    }

    /// Serves pages until the process is asked to stop.
    public func run() async throws {
        logger.notice("status port listens", metadata: ["address": "\(address)"])
        do {
            try await gracefulShutdown()
        } catch {
            // Cancellation ends the service, too.
        }
        await close()
    }

    public func close() async {
        do {
            try await channel.close()
        } catch {
            logger.debug("status port was closed before", metadata: ["error": "\(error)"])
        }
    }
}

/// The error of a status port that cannot be opened.
public struct StatusPortError: Error, CustomStringConvertible {
    public let description: String
}

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

public struct StatusPage: Sendable {
    /// The path of its URL: `/metrics`.
    public let path: String
    /// Returns its present content.
    public let answer: @Sendable () async -> StatusAnswer

    public init(_ path: String, answer: @escaping @Sendable () async -> StatusAnswer) {
        self.path = path
        self.answer = answer
    }
}

/// A response of the status port.
public struct StatusAnswer: Sendable {
    let status: HTTPResponseStatus
    let mediaType: String
    let body: String
    /// The headers in addition to those of every response.
    var headers: [(String, String)] = []

    /// Creates a response with the status 200.
    public init(_ mediaType: String, _ body: String) {
        self.init(.ok, mediaType, body)
    }

    init(_ status: HTTPResponseStatus, _ mediaType: String, _ body: String) {
        self.status = status
        self.mediaType = mediaType
        self.body = body
    }

    /// Returns a response with a sentence, for an invalid request.
    static func sentence(_ status: HTTPResponseStatus, _ text: String) -> StatusAnswer {
        StatusAnswer(status, "text/plain; charset=utf-8", text + "\n")
    }

    /// Creates a response with the problems as JSON: status 200 if there are none, otherwise 503.
    public init(_ report: HealthReport) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let json = String(decoding: try encoder.encode(report), as: UTF8.self)
            self.init(
                report.ok ? .ok : .serviceUnavailable, "application/json", json + "\n")
        } catch {
            preconditionFailure("text and finite numbers always encode to JSON: \(error)")
        }
    }
}

/// The open connections of a status port, limited in number: a new connection beyond the limit replaces the oldest one without a
/// request.
///
/// So a probe is answered however many connections other clients hold open: it fails only if its connection becomes the oldest
/// of all before its request arrives.
final class ConnectionTable: Sendable {
    private struct Connection {
        let number: Int
        let channel: any Channel
        var hasAsked = false
    }

    private struct State {
        var last = 0
        /// The connections in the order of their arrival.
        var open: [Connection] = []
    }

    private let max: Int
    private let state = Mutex(State())

    init(max: Int) { self.max = max }

    /// Adds a connection.
    ///
    /// - Returns: Its number, and the connection to close for it. If every connection has sent a request, that is the oldest of
    ///   all, whose peer most likely does not read its response.
    func enter(_ channel: any Channel) -> (number: Int, leaving: (any Channel)?) {
        state.withLock { state in
            state.last += 1
            var leaving: (any Channel)?
            if state.open.count >= max {
                let index = state.open.firstIndex { !$0.hasAsked } ?? 0
                leaving = state.open.remove(at: index).channel
            }
            state.open.append(Connection(number: state.last, channel: channel))
            return (state.last, leaving)
        }
    }

    /// Records that a complete request has arrived on a connection.
    func asked(_ number: Int) {
        state.withLock { state in
            guard let index = state.open.firstIndex(where: { $0.number == number }) else { return }
            state.open[index].hasAsked = true
        }
    }

    /// Removes a connection that has closed.
    func leave(_ number: Int) {
        state.withLock { state in state.open.removeAll { $0.number == number } }
    }

    /// The number of open connections.
    var count: Int { state.withLock { $0.open.count } }
}

/// The problems of a process, with their durations and advice; empty if the process is healthy.
public struct HealthReport: Sendable, Encodable, Equatable {
    public struct Problem: Sendable, Encodable, Equatable {
        /// The description, a sentence.
        public let what: String
        /// The duration so far in seconds; nil if the problem exists since the start.
        public let forSeconds: Double?
        /// The action to take.
        public let action: String

        public init(what: String, forSeconds: Double?, action: String) {
            self.what = what
            self.forSeconds = forSeconds
            self.action = action
        }
    }

    /// Whether there is no problem.
    public let ok: Bool
    public let problems: [Problem]

    public init(_ problems: [Problem]) {
        ok = problems.isEmpty
        self.problems = problems
    }
}
