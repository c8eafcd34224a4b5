import AccessKeys
import Edits
import FoundationEssentials
import HTTPTypes
import Hummingbird

enum KeyRoutes {
    static let routes: [Route] = [
        Route(
            .get, "/v1/keys", .operatorKey(.admin), name: "listKeys", group: "keys",
            "All keys, without their secrets.",
            answers: [
                .init(
                    .ok, "The keys.",
                    .fields(["keys": .list(.schema("Key"))]))
            ]
        ) { call in try .json(["keys": try await call.parts.keyStore.list()]) },
        Route(
            .post, "/v1/keys", .operatorKey(.admin), name: "createKey", group: "keys",
            "Creates a key. Its text is in this response only.",
            body: .json(.schema("KeyTerms")),
            answers: [
                .init(
                    .created, "The key and its text.",
                    .fields(["key": .schema("Key"), "secret": .text]),
                    headers: ["Location"])
            ], problems: [.conflict], handle: create),
        Route(
            .delete, "/v1/keys/{id}", .operatorKey(.admin), name: "revokeKey", group: "keys",
            "Revokes a key on every gateway.",
            parameters: [.path("id", "The key's id.")],
            answers: [.empty(.noContent, "It is revoked.")]
        ) { call in
            let id = try call.parameter("id")
            guard try await call.parts.keyStore.revoke(id) != nil else {
                throw Problem(.notFound, "There is no key \(id.debugDescription).")
            }
            try await call.note("revokeKey", id)
            return Response(status: .noContent)
        },
    ]

    private struct Made: Encodable {
        let key: AccessKey
        let secret: String
    }

    private static func create(_ call: Call) async throws -> Response {
        let terms = try Self.terms(try await call.json())
        let (key, text) = try await call.parts.keyStore.create(terms)
        try await call.note("createKey", key.id)
        return try .json(
            Made(key: key, secret: text.revealed), status: .created,
            headers: [.location: "/v1/keys/\(key.id)"])
    }

    /// The allowed fields of a key's terms.
    private static let termNames = [
        "scopes", "assetPrefix", "tenant", "label", "quotas", "corsOrigins", "expiresAt",
    ]

    /// The allowed fields of a key's quotas.
    private static let quotaNames = [
        "backlogMax", "requestsPerSecond", "requestBurst", "uploadBytesPerDay", "storedBytesMax",
    ]

    /// Parses a key's terms.
    ///
    /// - Throws: `unknownField`, because a misspelt field could have been the key's expiry or limit; `invalidValue`.
    private static func terms(_ json: JSONValue) throws -> KeyTerms {
        if case .object(let fields) = json {
            try check(fields, termNames, "a key's terms")
            if case .object(let quotas)? = fields["quotas"] {
                try check(quotas, quotaNames, "a key's quotas")
            }
        }
        do {
            return try JSONDecoder().decode(KeyTerms.self, from: Data(json.canonical.utf8))
        } catch let error as DecodingError {
            let field = error.place.isEmpty ? "The body" : error.place
            throw Problem(
                Failure(
                    .invalidValue,
                    "\(field) is missing or of another type than a key's terms have; /openapi.json defines how they "
                        + "are "
                        + "written."), status: .unprocessableContent)
        }
    }

    private static func check(
        _ fields: [String: JSONValue], _ known: [String], _ what: String
    ) throws(Problem) {
        guard let unknown = fields.keys.sorted().first(where: { !known.contains($0) }) else {
            return
        }
        throw Problem(
            Failure(
                .unknownField,
                "\(String(unknown.prefix(80)).debugDescription) is not a field of \(what); known: "
                    + known.joined(separator: ", ") + "."), status: .unprocessableContent)
    }
}
