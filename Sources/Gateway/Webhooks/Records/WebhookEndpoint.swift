package import AccessKeys
package import Edits
import FoundationEssentials

/// An endpoint as its owner may see it: the target, the owner and the kinds of events. It does not contain the secrets.
package struct WebhookEndpoint: Sendable, Equatable {
    /// The name, 16 characters. It is not a secret.
    package let id: String
    package let owner: WebhookOwner
    /// The target of its messages.
    package internal(set) var url: String
    /// The kinds of events, as CloudEvents' `type`.
    package internal(set) var eventTypes: Set<String>
    package internal(set) var state: State
    /// The time of its creation, ms since 1970.
    package let createdAt: Int

    package enum State: Sendable, Equatable {
        case active
        /// No messages are sent, since a time in ms since 1970.
        case disabled(Reason, since: Int)
    }

    /// The reason why no messages are sent.
    package enum Reason: String, Sendable, Codable, CaseIterable {
        /// Its owner disabled it.
        case owner
        /// The endpoint returned 410 Gone.
        case gone
        /// No message was accepted for five days.
        case failing
        /// Too many messages wait for another attempt.
        case parked
    }

    package var isActive: Bool { state == .active }

    private static let idAlphabet = Array("0123456789abcdefghjkmnpqrstvwxyz")
    static let idLength = 16

    static func makeID() -> String {
        var generator = SystemRandomNumberGenerator()
        return String(
            (0..<idLength).map { _ in
                idAlphabet[Int.random(in: 0..<idAlphabet.count, using: &generator)]
            })
    }
}

extension WebhookEndpoint: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, owner, url, eventTypes, state, reason, since, createdAt
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(String.self, forKey: .id)
        owner = try fields.decode(WebhookOwner.self, forKey: .owner)
        url = try fields.decode(String.self, forKey: .url)
        eventTypes = try fields.decode(Set<String>.self, forKey: .eventTypes)
        createdAt = try fields.decode(Int.self, forKey: .createdAt)
        state =
            try fields.decode(String.self, forKey: .state) == "active"
            ? .active
            : .disabled(
                fields.decode(Reason.self, forKey: .reason),
                since: fields.decode(Int.self, forKey: .since))
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(owner, forKey: .owner)
        try fields.encode(url, forKey: .url)
        try fields.encode(eventTypes.sorted(), forKey: .eventTypes)
        try fields.encode(createdAt, forKey: .createdAt)
        switch state {
        case .active: try fields.encode("active", forKey: .state)
        case .disabled(let reason, let since):
            try fields.encode("disabled", forKey: .state)
            try fields.encode(reason, forKey: .reason)
            try fields.encode(since, forKey: .since)
        }
    }
}

/// The owner of an endpoint, which receives events of the owner's jobs only.
package struct WebhookOwner: Sendable, Hashable, Codable {
    /// The tenant; nil for the operator, who receives the events of all tenants.
    package let tenant: String?
    /// The folder of the owner's assets, ending in `/`; empty for all.
    package let assetPrefix: String

    package init(tenant: String?, assetPrefix: String) {
        self.tenant = tenant
        self.assetPrefix = assetPrefix
    }

    /// The owner of what endpoints hold: threads, deliveries.
    package var share: FairShare.Owner { tenant.map { .tenant($0) } ?? .operator }
    /// The objects whose events the endpoint gets.
    package var reach: Reach { Reach(tenant: tenant, folder: assetPrefix) }
}

/// Returns the part of an event that an owner may see: the CloudEvent, whole or with parts left out; nil for nothing.
package typealias WebhookView =
    @Sendable (_ owner: WebhookOwner, _ json: String, _ event: JobEvent) -> String?

/// An endpoint as stored in Redis: with its secrets, which signing needs in clear, and the format of the record.
package struct StoredEndpoint: StoredRecord {
    var endpoint: WebhookEndpoint
    /// The secrets, the newest first; at most ``secretsMax``.
    private(set) var secrets: [Secret]
    private let format: Int

    package typealias Code = WebhookErrorCode
    package static let formatKnown = 1
    package static let (noun, nouns) = ("endpoint", "webhooks")
    package static let advice = (
        later: "Upgrade this one.", damaged: "Delete it, and make another one."
    )
    /// The maximum number of secrets that sign a message.
    static let secretsMax = 2
    /// The time for which a replaced secret continues to sign, in ms: a day.
    static let rotationOverlap = 86_400_000

    struct Secret: Sendable, Equatable, Codable {
        let text: String
        /// The time at which it expires, ms since 1970; nil while it is current.
        var endsAt: Int?
    }

    init(endpoint: WebhookEndpoint, secret: WebhookSecret) {
        self.endpoint = endpoint
        secrets = [Secret(text: secret.revealed)]
        format = Self.formatKnown
    }

    /// Returns the secrets that sign at a time in ms since 1970.
    ///
    /// - Throws: `invalidSecret`.
    func signing(at now: Int) throws(WebhookError) -> [WebhookSecret] {
        var signing: [WebhookSecret] = []
        for secret in secrets where secret.endsAt.map({ $0 > now }) ?? true {
            signing.append(try WebhookSecret(secret.text))
        }
        return signing
    }

    /// Replaces the newest secret, which continues to sign for a day; older ones expire.
    mutating func rotate(to secret: WebhookSecret, at now: Int) {
        var last = secrets[0]
        last.endsAt = now + Self.rotationOverlap
        secrets = [Secret(text: secret.revealed), last]
    }

    package func check(id: String) throws {
        guard (1...Self.secretsMax).contains(secrets.count), endpoint.id == id else {
            throw WebhookError(.damagedEndpoint, "its id is \(endpoint.id), or it has no secret")
        }
    }
}

/// The result of one attempt to deliver a message, as its owner may see it.
package struct WebhookDelivery: Sendable, Equatable, Codable {
    /// The start of the attempt, ms since 1970.
    package let at: Int
    /// `webhook-id` of the message.
    package let message: String
    /// The event's CloudEvents id.
    package let event: String
    /// The id of the event's entry in the stream; nil for an event of the webhooks themselves, and in a record of an earlier release.
    let entry: String?
    package let type: String
    package let attempt: Int
    /// The status of the response; nil if there was none.
    package let status: Int?
    /// The duration, in ms.
    package let milliseconds: Int
    /// The reason of the failure; nil if it succeeded. The sentence contains nothing of the response's body.
    package let error: String?
    /// The delay that the endpoint requested, in s; nil if it requested none.
    let retryAfter: Int?
    /// The time of the next attempt, ms since 1970; nil if there is none.
    package var retryAt: Int?

    package var isAccepted: Bool { error == nil }

    /// The maximum length of an error, in bytes.
    static let errorBytesMax = 300
    /// The number of deliveries of an endpoint that are remembered.
    static let rememberedMax = 100

    /// - Throws: `damagedEndpoint`, which does not occur for any delivery.
    func json() throws(WebhookError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(self))
        } catch {
            throw WebhookError(
                .damagedEndpoint, "a delivery of \(event) cannot be written as JSON: \(error)")
        }
    }
}

/// The kinds of events that endpoints can subscribe to: the types of `jobs/event.schema.json`.
package enum WebhookEventTypes {
    private static let prefix = "org.minilab."

    /// All kinds, as CloudEvents' `type`.
    package static let all: Set<String> = Set(
        [
            "job.completed", "job.drafted", "job.rendered", "job.unchanged", "job.superseded",
            "job.previewed", "job.progressed", "job.failed", "job.retried", "job.conflict",
            "job.stuck", "job.cancelled", "batch.completed", "batch.conflict", "batch.sealed",
            "stream.harmed",
        ].map { prefix + $0 })

    /// The default kinds of an endpoint: one message per batch and per failure, not a million.
    package static let usual: Set<String> = [prefix + "batch.completed", prefix + "job.failed"]

    /// The type of the message that reports a gap: events were trimmed before they could be delivered.
    static let gap = prefix + "webhook.gap"
    /// The type of a test message that a client requested.
    static let test = prefix + "webhook.test"

    /// Decodes names, with or without `org.minilab.`.
    ///
    /// - Throws: `invalidEventTypes`.
    package static func read(_ names: some Sequence<String>) throws(WebhookError) -> Set<String> {
        var types: Set<String> = []
        for name in names {
            let type = name.hasPrefix(prefix) ? name : prefix + name
            guard all.contains(type) else {
                throw WebhookError(
                    .invalidEventTypes,
                    "\(String(name.prefix(80)).debugDescription) is no kind of event; known: "
                        + all.sorted().map { $0.dropFirst(prefix.count) }.joined(separator: ", ")
                        + ".")
            }
            types.insert(type)
        }
        guard !types.isEmpty else {
            throw WebhookError(
                .invalidEventTypes, "name at least one type of events.")
        }
        return types
    }
}
