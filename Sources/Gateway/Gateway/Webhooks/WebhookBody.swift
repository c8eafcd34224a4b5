import AccessKeys
import Edits
import FoundationEssentials
import Hummingbird
import JobQueue
import Operations
import Webhooks

/// The body that creates or changes an endpoint; a nil field leaves the value unchanged.
struct WebhookBody {
    let url: String?
    let eventTypes: [String]?
    let isActive: Bool?

    /// - Parameter known: the fields that this call accepts.
    /// - Throws: `invalidValue`, `unknownField`; their messages begin with the field's path.
    init(_ json: JSONValue, known: Set<String>) throws(Failure) {
        let fields = try json.webhookFields(known)
        switch fields["url"] {
        case nil, .null?: url = nil
        case .string(let text)?: url = text
        case let value?:
            throw Failure(.invalidValue, "webhook.url is \(value.kind); expected text.")
        }
        switch fields["eventTypes"] {
        case nil, .null?: eventTypes = nil
        case .array(let values)? where values.count <= Self.typesMax:
            eventTypes = try values.enumerated().map { index, value throws(Failure) in
                guard case .string(let text) = value else {
                    throw Failure(
                        .invalidValue,
                        "webhook.eventTypes[\(index)] is \(value.kind); expected text.")
                }
                return text
            }
        case let value?:
            throw Failure(
                .invalidValue,
                "webhook.eventTypes is \(value.kind); expected a list of at most \(Self.typesMax) texts."
            )
        }
        switch fields["state"] {
        case nil, .null?: isActive = nil
        case .string("active")?: isActive = true
        case .string("disabled")?: isActive = false
        case let value?:
            throw Failure(
                .invalidValue,
                "webhook.state is \(String(value.canonical.prefix(80))); expected \"active\" or \"disabled\"."
            )
        }
    }

    /// The most event types of an endpoint.
    static let typesMax = 64

    /// Parses the time of a replay's body, `{"since": …}`: a time as text, a duration before now, or ms since 1970.
    ///
    /// - Parameter now: the time by the clock of the queue's server, which the events have.
    /// - Throws: `invalidValue`, `missingField`, `unknownField`.
    static func since(_ json: JSONValue, _ now: Date) throws(Failure) -> Int {
        let value = try json.webhookFields(["since"])["since"] ?? .null
        if case .string(let text) = value {
            return try DeadFilterText.time(text, of: "webhook.since", now)
        }
        if case .number(let number) = value, let milliseconds = Int(exactly: number) {
            return milliseconds
        }
        throw Failure(
            value == .null ? .missingField : .invalidValue,
            "webhook.since is \(String(value.canonical.prefix(80))); expected a time such as 2026-11-01T00:00:00Z, 2h for "
                + "so long ago, or ms since 1970.")
    }
}

extension JSONValue {
    fileprivate func webhookFields(
        _ known: Set<String>
    ) throws(Failure) -> [String: JSONValue] {
        guard case .object(let fields) = self else {
            throw Failure(.invalidValue, "webhook is \(kind); expected an object.")
        }
        if let unknown = fields.keys.sorted().first(where: { !known.contains($0) }) {
            throw Failure(
                .unknownField,
                "webhook has \(String(unknown.prefix(80)).debugDescription), which is no field of it; known: "
                    + known.sorted().joined(separator: ", ") + ".")
        }
        return fields
    }
}

extension AccessKey {
    var webhookOwner: WebhookOwner {
        WebhookOwner(tenant: reach.tenant, assetPrefix: reach.folder)
    }

    /// Returns whether the key may see and change an endpoint: one that gets no event beyond the key's own reach. Otherwise a
    /// key with a narrower prefix could send another key's events to itself.
    func covers(_ endpoint: WebhookEndpoint) -> Bool { reach.covers(endpoint.owner.reach) }
}
