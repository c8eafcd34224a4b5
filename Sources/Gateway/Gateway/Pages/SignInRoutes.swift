import AccessKeys
import Dashboard
import HTTPTypes
import Hummingbird

/// The routes of signing in: they exchange a key for a session in a cookie.
enum SignInRoutes {
    static let routes: [Route] = [
        Route(.get, Links.signIn, .openPage, "The page where one signs in.") { call in
            .page(page(call, next: ownPath(call.query("next"))))
        },
        Route(.post, Links.signIn, .openPage, "Begins a session.", handle: signIn),
        Route(.post, Links.signOut, .openPage, "Ends a session.", handle: signOut),
    ]

    private static func signIn(_ call: Call) async throws -> Response {
        let form = try await call.form()
        let next = ownPath(form["next"])
        let key: AccessKey
        do {
            // No limit of all callers comes before the look at the key: a stranger could use it up. A text that is no key costs
            // nothing, and the look-ups of unknown ids have a limit of their own (`KeyRing`).
            key = try await call.parts.keys.authenticate((form["key"] ?? "").trimmingBlanks)
            try call.parts.signIn.limit.charge(key)
        } catch {
            let problem = Problem(error)
            return .page(
                page(call, problem: problem.detail, next: next), status: problem.status)
        }
        let token = try await call.parts.signIn.sessions.begin(keyID: key.id)
        var response = Call.seeOther(landing(next, key))
        response.headers[.setCookie] = call.parts.signIn.origin.cookie(
            .session, token, seconds: Int(SessionStore.duration / .seconds(1)))
        return response
    }

    private static func page(
        _ call: Call, problem: String? = nil, next: String?
    ) -> SignInPage {
        SignInPage(
            call.frame(), problem: problem, next: next,
            provider: call.parts.signIn.provider?.settings.name)
    }

    /// Returns the path to open after sign-in.
    ///
    /// - Parameter next: the path that was requested before sign-in.
    static func landing(_ next: String?, _ key: AccessKey) -> String {
        // A tenant's key has no view of the whole queue.
        next ?? (key.tenant == nil ? Links.now : Links.batches)
    }

    private static func signOut(_ call: Call) async throws -> Response {
        if let token = call.parts.signIn.origin.value(of: .session, call.request) {
            // A session that is not in its place yet would come there after its end.
            try call.parts.keys.checkContact()
            // Another site must not be able to sign people out; the dispatcher has checked the sender.
            try await call.parts.signIn.sessions.end(token)
        }
        var response = Call.seeOther(Links.signIn, .signedOut)
        response.headers[.setCookie] = call.parts.signIn.origin.cookie(.session, "", seconds: 0)
        return response
    }

    /// Returns the text if it is a path of this gateway; nil for anything else, such as another site.
    static func ownPath(_ text: String?) -> String? {
        guard let text, text.hasPrefix("/"), !text.hasPrefix("//"), !text.contains("\\"),
            // A path that leads back to the provider would repeat the sign-in for ever.
            !text.hasPrefix(Links.providerSignIn), text.utf8.count < 2000,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return text
    }
}

extension String {
    fileprivate var trimmingBlanks: Substring {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text.drop(while: \.isWhitespace)
    }
}
