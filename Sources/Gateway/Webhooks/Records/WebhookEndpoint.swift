/// An endpoint as its owner may see it: the target, the owner and the kinds of events. It does not contain the secrets.
package struct WebhookEndpoint: Sendable, Equatable {
    /// The name, 16 characters. It is not a secret.
    package let id: String
    /// The owner.
    package let owner: WebhookOwner
    /// The target of its messages.
    package internal(set) var url: String
    /// The kinds of events, as CloudEvents' `type`.
    package internal(set) var eventTypes: Set<String>
    /// Whether messages are sent.
    package internal(set) var state: State
    /// The time of its creation, ms since 1970.
    package let createdAt: Int

    /// Whether messages are sent.
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

    /// Whether messages are sent.
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
