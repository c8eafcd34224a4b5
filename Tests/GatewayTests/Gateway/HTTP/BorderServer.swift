import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

@testable import Gateway

/// A server of the border that a test talks to, on a port of its own.
final class BorderServer: Sendable {
    private let running: RunningServer
    private let box: Record
    let connections: OpenConnections

    /// The handler of a test.
    typealias Handler = @Sendable (Request, Context) async throws -> Response

    /// The context of a request, with its channel.
    struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        let channel: any Channel

        init(source: ApplicationRequestContextSource) {
            coreContext = .init(source: source)
            channel = source.channel
        }
    }

    /// Starts a server; it ends with the object.
    init(_ limits: BorderLimits = BorderLimits(), _ handler: @escaping Handler) async throws {
        let box = Record()
        let connections = OpenConnections(max: limits.connectionsMax)
        self.connections = connections
        running = try await RunningServer { onServerRunning in
            Application(
                responder: CallbackResponder { (request: Request, context: Context) in
                    box.paths.withLock { $0.append(request.uri.path) }
                    return try await handler(request, context)
                },
                server: .border(limits, connections),
                configuration: .border(
                    .hostname("127.0.0.1", port: 0), limits, logger: Logger(label: "test")),
                onServerRunning: onServerRunning,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        self.box = box
    }

    var port: Int { running.port }

    private final class Record: Sendable {
        let paths = Mutex<[String]>([])
    }

    /// The paths of the requests that reached the handler, in their order.
    var paths: [String] { box.paths.withLock { $0 } }

    /// A server whose handlers answer as their paths say.
    static func plain(_ limits: BorderLimits = BorderLimits()) async throws -> BorderServer {
        try await BorderServer(limits) { request, context in
            switch request.uri.path {
            case "/count":
                var count = 0
                for try await part in request.body { count += part.readableBytes }
                return .text("\(count) bytes")
            case "/refused": return .text("no", status: .unauthorized)
            default: return .text("hello")
            }
        }
    }
}

extension Response {
    static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
