import FoundationEssentials
import JobQueue

/// The CloudEvents that webhooks themselves create: a gap, and a test.
struct WebhookEvent: Encodable {
    let specversion = "1.0"
    let id: String
    let source: String
    let type: String
    let time: String
    let datacontenttype = "application/json"
    let data: Data

    /// The data: the endpoint, and for a gap the ids of the event stream before and after it.
    struct Data: Encodable {
        let endpoint: String
        var from: String?
        var to: String?
    }

    /// Creates the event of a gap: events after `from` and before `to` were trimmed before they could be delivered.
    static func gap(
        from: String, to: String, endpoint: String, queue: QueueName, at milliseconds: Int
    ) -> WebhookEvent {
        WebhookEvent(
            id: "\(queue)/webhook/\(endpoint)/gap/\(from)/\(to)", source: "minilab/\(queue)",
            type: WebhookEventTypes.gap, time: time(milliseconds),
            data: Data(endpoint: endpoint, from: from, to: to))
    }

    /// Creates a test event, which a client requested.
    static func test(endpoint: String, queue: QueueName, at milliseconds: Int) -> WebhookEvent {
        WebhookEvent(
            id: "\(queue)/webhook/\(endpoint)/test/\(UInt64.random(in: 0...UInt64.max))",
            source: "minilab/\(queue)", type: WebhookEventTypes.test, time: time(milliseconds),
            data: Data(endpoint: endpoint))
    }

    /// - Throws: `damagedEndpoint`, which does not occur for events that contain only text.
    func json() throws(WebhookError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            throw WebhookError(.damagedEndpoint, "event \(id) cannot be written as JSON: \(error)")
        }
    }

    private static func time(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
