/// A key of a client: its name, its terms and when it was made and taken back. The secret is not in it.
@dynamicMemberLookup package struct AccessKey: Sendable, Equatable {
    /// The name, 12 characters; no secret.
    package let id: String
    /// Its terms. Their properties are the key's too: `key.tenant`.
    package let terms: KeyTerms
    /// When it was made, ms since 1970.
    package let createdAt: Int
    /// When it was taken back, ms since 1970; nil: it was not.
    package internal(set) var revokedAt: Int?

    /// Where a key is in its life.
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

    /// Its state at a time in ms since 1970.
    package func state(at now: Int) -> State {
        if revokedAt != nil { return .revoked }
        return terms.expiresAt.map { $0 <= now } ?? false ? .expired : .active
    }
}

extension AccessKey: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, createdAt, revokedAt
    }

    /// The terms stand beside the other fields.
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
