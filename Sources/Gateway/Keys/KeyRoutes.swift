import AccessKeys
import Adjustments
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// Keys: made, listed, revoked.
enum KeyRoutes {
    static let routes: [Route] = [
        Route(
            .get, "/v1/keys", .operatorKey(.admin), name: "listKeys", group: "keys",
            "All keys, without their secrets.",
            answers: [
                .init(
                    .ok, "The keys.",
                    .fields(["keys": .list(.schema("Key"))], required: ["keys"]))
            ]
        ) { call in try .json(["keys": try await call.parts.keyStore.list()]) },
        Route(
            .post, "/v1/keys", .operatorKey(.admin), name: "createKey", group: "keys",
            "Makes a key; its text is in this answer and never again.",
            body: .json(.schema("KeyTerms")),
            answers: [
                .init(
                    .created, "The key and its text.",
                    .fields(
                        ["key": .schema("Key"), "secret": .text], required: ["key", "secret"]),
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
            try await call.parts.audit.note("revokeKey", id, by: call.key)
            return Response(status: .noContent)
        },
    ]

    private struct Made: Encodable {
        let key: AccessKey
        let secret: String
    }

    private static func create(_ call: Call) async throws -> Response {
        let json = try await call.json()
        // A field that is misspelt could be the end of the key, or its limit.
        if case .object(let fields) = json,
            let unknown = fields.keys.sorted().first(where: { !Schemas.termNames.contains($0) })
        {
            throw Problem(
                Failure(
                    .unknownField,
                    "\(unknown.debugDescription) is not a field of a key's terms; known: "
                        + Schemas.termNames.joined(separator: ", ") + "."),
                status: .unprocessableContent)
        }
        let terms: KeyTerms
        do {
            terms = try JSONDecoder().decode(KeyTerms.self, from: Data(json.canonical.utf8))
        } catch let error as KeyError {
            throw error
        } catch {
            throw Problem(
                Failure(
                    .invalidValue,
                    "The body is no key's terms: \(error). /openapi.json says how they are written."
                ),
                status: .unprocessableContent)
        }
        let (key, text) = try await call.parts.keyStore.create(terms)
        try await call.parts.audit.note("createKey", key.id, by: call.key)
        return try .json(
            Made(key: key, secret: text.revealed), status: .created,
            headers: [.location: "/v1/keys/\(key.id)"])
    }
}
