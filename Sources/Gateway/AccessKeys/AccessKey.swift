/// A client's key: its name, its terms and the times of its creation and revocation. It does not contain the secret.
@dynamicMemberLookup package struct AccessKey: Sendable, Equatable {
    /// The name, 12 characters. It is not a secret.
    package let id: String
    /// The terms. Their properties are also available on the key: `key.tenant`.
    package let terms: KeyTerms
    /// The time of its creation, ms since 1970.
    package let createdAt: Int
    /// The time of its revocation, ms since 1970; nil if it is not revoked.
    package internal(set) var revokedAt: Int?

    /// A stage of a key's life.
    package enum State: String, Sendable, Codable {
        case active, expired, revoked
    }

    package init(id: String, terms: KeyTerms, createdAt: Int, revokedAt: Int? = nil) {
        self.id = id
        self.terms = terms
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }

    package subscript<Value>(dynamicMember term: KeyPath<KeyTerms, Value>) -> Value {
        terms[keyPath: term]
    }

    /// Returns the state at a time in ms since 1970.
    package func state(at now: Int) -> State {
        if revokedAt != nil { return .revoked }
        return terms.expiresAt.map { $0 <= now } ?? false ? .expired : .active
    }
}

extension AccessKey: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, createdAt, revokedAt
    }

    /// The terms are encoded beside the other fields.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            id: fields.decode(String.self, forKey: .id), terms: KeyTerms(from: decoder),
            createdAt: fields.decode(Int.self, forKey: .createdAt),
            revokedAt: fields.decodeIfPresent(Int.self, forKey: .revokedAt))
    }

    package func encode(to encoder: any Encoder) throws {
        try terms.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(createdAt, forKey: .createdAt)
        try fields.encodeIfPresent(revokedAt, forKey: .revokedAt)
    }
}
