import AccessKeys
import Edits
import Dashboard
import HTTPTypes
import Hummingbird

enum KeyPages {
    static let routes: [Route] = [
        Route(.get, Links.keys, .operatorPage(.admin), "The clients' keys.") { call in
            .page(KeysPage(call.frame(), keys: try await rows(call)))
        },
        Route(.post, Links.keys, .operatorPage(.admin), "Makes a key.", handle: create),
        Route(.post, "/keys/{id}/revoke", .operatorPage(.admin), "Revokes a key.") { call in
            _ = try await call.form()
            let id = try call.parameter("id")
            guard try await call.parts.keyStore.revoke(id) != nil else {
                throw Problem(.notFound, "There is no key \(id.debugDescription).")
            }
            try await call.note("revokeKey", id)
            return Call.seeOther(Links.keys, .revoked)
        },
    ]

    private static func rows(_ call: Call) async throws -> [KeyRow] {
        let now = try await call.parts.keyStore.now()
        return try await call.parts.keyStore.list().reversed().map { key in
            KeyRow(
                id: key.id, label: key.label, tenant: key.tenant?.string,
                prefix: key.assetPrefix.string, scopes: key.scopes.map(\.rawValue).sorted(),
                state: key.state(at: now).rawValue, created: Moment(key.createdAt),
                expires: key.expiresAt.map { Moment($0) })
        }
    }

    private static func create(_ call: Call) async throws -> Response {
        let form = try await call.form()
        let scopes = Set(form.all("scope"))
        do {
            let (key, text) = try await call.parts.keyStore.create(
                try terms(form), endingAfter: try lifetime(form))
            try await call.note("createKey", key.id)
            return .page(
                KeysPage(
                    call.frame(), keys: try await rows(call),
                    created: Secret(
                        name: key.label.isEmpty ? key.id : key.label, secret: text.revealed)))
        } catch {
            let problem = Problem(error)
            guard problem.status.kind == .clientError else { throw error }
            return .page(
                KeysPage(
                    call.frame(), keys: try await rows(call),
                    form: KeyForm(
                        label: form["label"], tenant: form["tenant"], prefix: form["prefix"],
                        days: form["days"], scopes: scopes, error: problem.detail)),
                status: problem.status)
        }
    }

    /// The longest lifetime, in days, of a key that the form creates.
    private static let daysMax = 3650

    private static func lifetime(_ form: Form) throws(Problem) -> Duration? {
        guard let text = form["days"] else { return nil }
        guard let days = Int(text), (1...daysMax).contains(days) else {
            throw Problem(
                .badParameter, "Give 1 to \(daysMax) days, or nothing for a key without an end.")
        }
        return .seconds(days * 86_400)
    }

    private static func terms(_ form: Form) throws -> KeyTerms {
        let scopes = try form.all("scope").map { name in
            guard let scope = Scope(rawValue: name) else {
                throw Problem(.badParameter, "\(name.debugDescription) is no scope.")
            }
            return scope
        }
        let tenant = try form["tenant"].map { try JobID($0) }
        // A tenant's key is restricted to the tenant's folder unless the form names another prefix.
        let prefix = form["prefix"] ?? tenant.map { "\($0)/" } ?? ""
        return try KeyTerms(
            label: form["label"] ?? "", tenant: tenant, assetPrefix: try AssetPrefix(prefix),
            scopes: Set(scopes))
    }
}
