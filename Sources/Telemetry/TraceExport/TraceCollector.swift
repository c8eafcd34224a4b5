import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix

/// A client of a collector that accepts spans over HTTP: one request, one answer.
final class TraceCollector: Sendable {
    /// The longest time of a request, its answer included.
    static let timeout: Duration = .seconds(10)
    /// The longest time to connect.
    static let connectTimeout = TimeAmount.seconds(3)
    /// Most bytes of an answer that are read.
    static let answerBytesMax = 64 << 10

    private let url: String
    private let timeout: Duration
    private let client: HTTPClient

    /// - Parameter timeout: the longest time of a request, its answer included.
    init(_ url: String, timeout: Duration = timeout) {
        self.url = url
        self.timeout = timeout
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: Self.connectTimeout))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // Sending spans makes none.
        configuration.tracing.tracer = nil
        client = HTTPClient(
            eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    /// An answer, with how many spans of those that were taken it refuses.
    struct Answer {
        var answer: ExportPolicy.Answer
        var refused = 0
        /// Why there is no status, for people.
        var reason = ""
    }

    /// Sends a request of spans once.
    func send(_ body: String) async -> Answer {
        await withTaskGroup(of: Answer.self) { group in
            group.addTask { await self.exchange(body) }
            // The client's own deadline ends with the head of an answer, and a body may come a byte at a time.
            group.addTask { [timeout] in
                // Cancelled when the exchange ends first: its result is then the answer.
                try? await Task.sleep(for: timeout)
                return Answer(answer: .none, reason: "it gave no whole answer within \(timeout)")
            }
            let first = await group.next() ?? Answer(answer: .none, reason: "it was cancelled")
            group.cancelAll()
            return first
        }
    }

    private func exchange(_ body: String) async -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = ["content-type": "application/json", "user-agent": "minilab-traces"]
        request.body = .bytes(ByteBuffer(string: body))
        do {
            let response = try await client.execute(request, deadline: .distantFuture)
            var text = ByteBuffer()
            for try await part in response.body {
                text.writeImmutableBuffer(part)
                // The rest is not read: the client ends the connection.
                if text.readableBytes > Self.answerBytesMax { break }
            }
            let status = Int(response.status.code)
            return Answer(
                answer: .status(
                    status,
                    retryAfter: response.headers.first(name: "retry-after").flatMap {
                        UInt32($0).map(Int.init)
                    }),
                refused: OTLP.rejected(String(buffer: text)), reason: "it answered \(status)")
        } catch {
            return Answer(answer: .none, reason: "it gave no answer: \(error)")
        }
    }

    /// Closes the client's connections.
    func close() async {
        // Shutdown fails only if the client is already closed.
        try? await client.shutdown()
    }
}
