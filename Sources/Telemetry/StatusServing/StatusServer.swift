public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
public import ServiceLifecycle

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

    /// Closes the port.
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
