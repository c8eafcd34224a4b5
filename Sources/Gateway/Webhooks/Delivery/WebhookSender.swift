package import AccessKeys
import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Sends one message to one URL, once: to a checked address, without redirects, with a time limit.
package struct WebhookSender: Sendable {
    /// The maximum size of a response's body that is read, in bytes; the body is discarded.
    static let answerBytesMax = 64 << 10

    /// The response to a message.
    struct Answer: Sendable, Equatable {
        /// The status; nil if there was no response.
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
