public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
public import ServiceLifecycle

/// The status port: a small HTTP server for who watches a worker or a gateway.
///
/// One request a connection, `GET` or `HEAD`. It runs on the process's event loops and shares no
/// thread with the heartbeat. Whatever is sent to it, the process goes on.
public struct StatusServer: Service {
    /// Most connections at one time; for one more the oldest that has asked nothing is closed.
    public static let connectionsMax = 32
    /// Longest time from a connection to the end of its request: a probe sends that at once.
    static let requestTimeMax: TimeAmount = .seconds(2)
    /// Longest life of a connection, idle or not: longer than any page takes.
    static let connectionTimeMax: TimeAmount = .seconds(10)
    /// Most bytes of one header, and of all of them with the request's line.
    static let headBytesMax = 8 << 10
    /// Most headers of a request.
    static let headersMax = 64
    /// Connections that the kernel keeps until they are accepted.
    private static let backlog: Int32 = 64

    private let channel: any Channel
    private let logger: Logger

    /// Where it listens: `127.0.0.1:9110`.
    public let address: String

    /// Starts to listen; pages are answered from now on.
    ///
    /// - Parameters:
    ///   - host: an address of this machine or a name of one.
    ///   - port: 0 is any free one.
    /// - Throws: `StatusPortError` when the port cannot be had.
    public static func open(
        host: String, port: Int, pages: [StatusPage], logger: Logger
    ) async throws -> StatusServer {
        try await open(
            host: host, port: port, pages: pages, requestTimeMax: requestTimeMax, logger: logger)
    }

    /// The same with another time for requests.
    static func open(
        host: String, port: Int, pages: [StatusPage], requestTimeMax: TimeAmount, logger: Logger
    ) async throws -> StatusServer {
        let table = ConnectionTable(max: connectionsMax)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: backlog)
            // A worker that is started again must not wait for the kernel to forget old connections.
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
        // What cannot be parsed is answered by our handler, with a sentence.
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
        try pipeline.addHandler(
            StatusRequestHandler(pages) {
                table.asked(number)
                silence.cancel()
            })
    }

    /// Ends a connection so that the peer sees it.
    ///
    /// To close it is not enough: a process that was started meanwhile may have inherited the socket, and the
    /// kernel then says nothing until that ends, too. To shut it down is said at once.
    static func end(_ channel: any Channel) {
        channel.close(mode: .output).whenComplete { _ in channel.close(promise: nil) }
    }

    /// Answers until the process is told to end.
    public func run() async throws {
        logger.notice("status port listens", metadata: ["address": "\(address)"])
        do {
            try await gracefulShutdown()
        } catch {
            // Cancelled: that is an end, too.
        }
        await close()
    }

    /// Closes the port.
    public func close() async {
        do {
            try await channel.close()
        } catch {
            logger.debug("status port was closed before", metadata: ["error": "\(error)"])
        }
    }
}

/// Why a status port cannot be had.
public struct StatusPortError: Error, CustomStringConvertible {
    public let description: String
}
