package import AccessKeys
import AsyncHTTPClient
import Edits
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import Telemetry
import Tracing

/// Sends one message to one URL, once: to a checked address, without redirects, with a time limit.
package struct WebhookSender: Sendable {
    /// The maximum size of a response's body that is read, in bytes; the body is discarded.
    static let answerBytesMax = 64 << 10

    struct Answer: Sendable, Equatable {
        let status: Int?
        /// The reason why the message counts as not accepted; nil if it was accepted.
        let error: String?
        /// `Retry-After` in s, if the message was not accepted; nil if it is missing or not a number.
        var retryAfter: Int?
    }

    private let target: TargetGuard
    private let timeout: Duration
    private let clients: DeliveryClients

    /// - Parameter authorities: A PEM file of certificate authorities to trust besides the system's, for endpoints of the
    ///   operator's own network.
    package init(
        target: TargetGuard, timeout: Duration = WebhookSettings().timeout,
        authorities: String? = nil
    ) {
        self.target = target
        self.timeout = timeout
        clients = DeliveryClients(timeout: timeout, authorities: authorities)
    }

    /// Checks whether messages may be sent to a URL with its present addresses; for requests that create an endpoint.
    ///
    /// - Throws: `invalidURL`, `unknownHost`, `refusedAddress`.
    package func check(
        _ url: String, of owner: FairShare.Owner
    ) async throws(WebhookError) {
        _ = try await target.address(for: try WebhookURL(url), of: owner)
    }

    /// The number of look-ups that were refused because too many waited.
    package var refusedLookups: Int { (target.resolver as? SystemResolver)?.refusedCount ?? 0 }

    /// Sends a message; every failure is a value of ``Answer``.
    ///
    /// - Parameter owner: The owner of the endpoint, who pays for the look-up of its host.
    func send(
        _ message: SignedMessage, to url: String, of owner: FairShare.Owner
    ) async -> Answer {
        await withTaskGroup(of: Answer.self) { group in
            group.addTask { await exchange(message, url, owner) }
            group.addTask {
                // The sleep is cancelled if the exchange ends first.
                try? await Task.sleep(for: timeout)
                return Answer(status: nil, error: "no whole answer within \(timeout)")
            }
            let first = await group.next() ?? Answer(status: nil, error: "cancelled")
            group.cancelAll()
            return first
        }
    }

    private func exchange(
        _ message: SignedMessage, _ url: String, _ owner: FairShare.Owner
    ) async -> Answer {
        let checked: WebhookURL
        let address: IPAddress
        do throws(WebhookError) {
            checked = try WebhookURL(url)
            address = try await target.address(for: checked, of: owner)
        } catch {
            return Answer(status: nil, error: error.message)
        }
        return await clients.with(.init(host: checked.host, address: address)) {
            await ask($0, message, checked)
        }
    }

    private func ask(
        _ client: HTTPClient, _ message: SignedMessage, _ url: WebhookURL
    ) async -> Answer {
        var request = HTTPClientRequest(url: url.string)
        request.method = .POST
        request.headers = HTTPHeaders(message.headers.map { ($0.name, $0.value) })
        request.headers.add(name: "user-agent", value: "minilab-webhooks")
        request.body = .bytes(message.body)
        do {
            let response = try await client.execute(
                request, deadline: .now() + .nanoseconds(timeout.nanoseconds))
            let status = Int(response.status.code)
            var bytes = 0
            for try await part in response.body {
                bytes += part.readableBytes
                // The rest is not read: the client closes the connection.
                if bytes > Self.answerBytesMax { break }
            }
            let error = Self.refusal(status)
            return Answer(
                status: status, error: error,
                retryAfter: error == nil ? nil : Self.seconds(response.headers["retry-after"]))
        } catch {
            return Answer(status: nil, error: Self.sentence(error, url))
        }
    }

    private static func refusal(_ status: Int) -> String? {
        switch status {
        case 200..<300: nil
        case 300..<400: "it answered \(status); redirects are not followed"
        case 410: "it answered 410 Gone: the endpoint was removed permanently"
        default: "it answered \(status)"
        }
    }

    /// A date is ignored, because it depends on the receiver's clock.
    private static func seconds(_ values: [String]) -> Int? {
        values.count == 1 ? UInt32(values[0]).map(Int.init) : nil
    }

    private static func sentence(_ error: any Error, _ url: WebhookURL) -> String {
        let text = "\(url.host):\(url.port) gave no answer: \(error)"
        return String(
            decoding: text.utf8.prefix(WebhookDelivery.errorBytesMax), as: UTF8.self)
    }
}

extension Duration {
    var nanoseconds: Int64 { Int64(self / .nanoseconds(1)) }
}

/// A message that is being sent to one endpoint.
struct Outgoing: Sendable {
    let event: String
    /// The id of the event's entry in the stream; nil for an event of the webhooks themselves.
    var entry: String?
    let type: String
    /// The CloudEvent in JSON.
    let body: [UInt8]
    let attempt: Int
    /// The event's place in a trace, if it has one.
    var traceparent: Traceparent?

    /// Signs and sends it; as a part of its event's trace, if that is in one, which the receiver may carry on.
    ///
    /// - Throws: `invalidSecret`.
    func send(
        to stored: StoredEndpoint, through sender: WebhookSender,
        now: @escaping @Sendable () -> Int
    ) async throws(WebhookError) -> WebhookDelivery {
        guard let traceparent else {
            return try await deliver(to: stored, through: sender, now: now)
        }
        let attributes: SpanAttributes = [
            "http.request.method": "POST", "minilab.webhook": .string(stored.endpoint.id),
            "cloudevents.event_id": .string(event), "cloudevents.event_type": .string(type),
            "http.request.resend_count": .int64(Int64(attempt - 1)),
        ]
        return try await inSpan("POST", .client, in: .following(traceparent), with: attributes) {
            span throws(WebhookError) in
            let delivery = try await deliver(to: stored, through: sender, now: now)
            if let status = delivery.status {
                span.attributes["http.response.status_code"] = status
            }
            if !delivery.isAccepted { span.setStatus(SpanStatus(code: .error)) }
            return delivery
        }
    }

    private func deliver(
        to stored: StoredEndpoint, through sender: WebhookSender, now: @Sendable () -> Int
    ) async throws(WebhookError) -> WebhookDelivery {
        let begin = now()
        let message = SignedMessage(
            id: SignedMessage.id(event: event, endpoint: stored.endpoint.id), body: body,
            seconds: begin / 1000, secrets: try stored.signing(at: begin),
            traceparent: traceparent == nil ? nil : ServiceContext.current?.traceparent)
        let start = ContinuousClock.now
        let answer = await sender.send(
            message, to: stored.endpoint.url, of: stored.endpoint.owner.share)
        return WebhookDelivery(
            at: begin, message: message.id, event: event, entry: entry, type: type,
            attempt: attempt,
            status: answer.status, milliseconds: (ContinuousClock.now - start).milliseconds,
            error: answer.error, retryAfter: answer.retryAfter)
    }
}

/// The HTTP clients of deliveries, one for each host and the address that was checked for it.
///
/// A client connects to its own address only, whatever the name resolves to later, so the clients of two addresses share no
/// connection. They share the certificates of the authorities: reading these takes 6 ms and 42 MB, which each message paid when it
/// had a client of its own.
final class DeliveryClients: Sendable {
    /// The target of a client.
    struct Target: Sendable, Hashable {
        let host: String
        let address: IPAddress
    }

    private struct Entry {
        let client: HTTPClient
        var users = 0
        var usedAt = 0
    }

    private struct State {
        var entries: [Target: Entry] = [:]
        var uses = 0
    }

    /// The clients without a delivery that are kept: as many as deliver at a time.
    static let idleMax = 64
    /// The connections to one host: as many as a gateway delivers at a time, whose share by tenants is the bound. With the 8 that are
    /// usual, 8 receivers of one tenant that hang kept all others of their host from being asked.
    static let connectionsMax = WebhookSettings().concurrencyMax
    /// The maximum time to connect.
    static let connectTimeout = TimeAmount.seconds(5)
    /// The time for which an unused connection is kept: below the 5 s after which Node.js closes one, so that a message meets no
    /// connection that its receiver is closing.
    static let connectionIdleMax = TimeAmount.seconds(2)
    /// The authorities of the system, read once for the process; a change of them needs a restart.
    private static let systemRoots: NIOSSLTrustRoots = {
        for path in [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        ] {
            // Another system keeps them elsewhere: then each client reads them.
            if let roots = try? NIOSSLCertificate.fromPEMFile(path) { return .certificates(roots) }
        }
        return .default
    }()

    private let timeout: Duration
    private let tls: TLSConfiguration
    private let idleMax: Int
    private let state = Mutex(State())

    /// - Parameter authorities: A PEM file of certificate authorities to trust besides the system's.
    init(timeout: Duration, authorities: String?, idleMax: Int = idleMax) {
        self.timeout = timeout
        self.idleMax = idleMax
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = Self.systemRoots
        if let authorities { tls.additionalTrustRoots = [.file(authorities)] }
        self.tls = tls
    }

    deinit {
        let clients = state.withLock { $0.entries.values.map(\.client) }
        Task { for client in clients { await Self.end(client) } }
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Runs `body` with the client of a target.
    func with<Result: Sendable>(
        _ target: Target, _ body: (HTTPClient) async -> Result
    ) async -> Result {
        let client = state.withLock { state in
            var entry = state.entries[target] ?? Entry(client: make(target))
            entry.users += 1
            state.entries[target] = entry
            return entry.client
        }
        let result = await body(client)
        for client in state.withLock({ giveBack(target, &$0) }) { await Self.end(client) }
        return result
    }

    /// - Returns: The clients that are not kept, those that were not used for longest.
    private func giveBack(_ target: Target, _ state: inout State) -> [HTTPClient] {
        state.uses += 1
        state.entries[target]?.users -= 1
        state.entries[target]?.usedAt = state.uses
        let idle = state.entries.filter { $0.value.users == 0 }.sorted {
            $0.value.usedAt < $1.value.usedAt
        }
        let surplus = idle.prefix(max(0, idle.count - idleMax))
        for (target, _) in surplus { state.entries[target] = nil }
        return surplus.map(\.value.client)
    }

    private func make(_ target: Target) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(
                connect: Self.connectTimeout, read: .nanoseconds(timeout.nanoseconds)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // Its spans would have whole URLs, with what is secret in them.
        configuration.tracing.tracer = nil
        configuration.connectionPool.idleTimeout = Self.connectionIdleMax
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            Self.connectionsMax
        configuration.http1_1ConnectionDebugInitializer = { AnswerBound.add(to: $0) }
        // Or a refused connection or certificate is tried anew until the time to connect is over.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The name stays in Host and in the check of the certificate; the connection uses the address.
        configuration.dnsOverride = [target.host: target.address.description]
        return HTTPClient(
            eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    private static func end(_ client: HTTPClient) async {
        // The call fails only for a client that was shut down before.
        try? await client.shutdown()
    }
}

/// The delays before a failed message is retried: 5 s, 20 s, 80 s … 24 h, each shortened at random by up to a half.
///
/// The attempts extend over more than a day. The jitter keeps the endpoints of one host that was unavailable from being retried
/// at the same moment.
package struct RetrySchedule: Sendable {
    /// The delay after the first failure.
    package var base = Duration.seconds(5)
    package var cap = Duration.seconds(86_400)
    /// The ratio of each delay to the one before.
    package var factor = 4
    /// The maximum number of attempts; then the message is given up. 5 s × 4^n: the last of 9 follows 15 to 30 hours after the
    /// first.
    package var attemptsMax = 9

    package init() {}

    /// Returns the delay after a number of failures; nil if the message is given up.
    ///
    /// - Parameters:
    ///   - random: A random number from 0 up to 1, uniformly distributed.
    ///   - asked: The receiver's `Retry-After`, which may lengthen a delay up to the cap, and shortens none.
    package func delay(
        afterFailures failures: Int, random: Double, atLeast asked: Duration = .zero
    ) -> Duration? {
        guard failures >= 1, failures < attemptsMax else { return nil }
        var delay = base
        for _ in 1..<failures where delay < cap { delay *= factor }
        return max(min(delay, cap) * (1 - min(max(random, 0), 1) / 2), min(asked, cap))
    }
}

package struct WebhookSettings: Sendable {
    /// The maximum time of one delivery, from the look-up of the name to the end of the response.
    package var timeout = Duration.seconds(15)
    /// The time for which a gateway may deliver for an endpoint without renewing its lease; above twice the timeout.
    package var lease = Duration.seconds(40)
    /// The maximum number of simultaneous deliveries of one gateway.
    package var concurrencyMax = 64
    package var retries = RetrySchedule()
    /// The time without an accepted message after which an endpoint is disabled.
    package var failingMax = Duration.seconds(5 * 86_400)
    /// The number of consecutive failures after which new events wait in the stream and only parked messages are retried.
    package var failuresBeforePause = 5
    /// The interval at which the first waiting event is tried meanwhile, because the parked messages may be due only in a day.
    package var probeInterval = Duration.seconds(300)
    /// The interval at which an endpoint without events is checked.
    package var idle = Duration.seconds(5)
    /// The interval at which all endpoints are read again, in case the notice of a change was lost.
    package var reloadInterval = Duration.seconds(30)

    package init() {}
}
