import AccessKeys
import Dashboard
import Edits
import HTTPTypes
import Hummingbird
import Logging

/// The routes of signing in with an identity provider: the redirect to it, and the return with a new session.
enum ProviderRoutes {
    static let routes: [Route] = [
        Route(
            .get, Links.providerSignIn, .openPage,
            "Sends the browser to the identity provider to sign in.", handle: begin),
        Route(
            .get, Links.providerReturn, .openPage,
            "Takes the browser back from the identity provider, with a session.", handle: finish),
    ]

    /// The most groups, and the most characters of each, that the refusal page shows.
    private static let shownGroupsMax = 20
    private static let shownLengthMax = 100

    private static func signIn(_ call: Call) throws(Problem) -> ProviderSignIn {
        guard let signIn = call.parts.signIn.provider else {
            throw Problem(.notFound, "This gateway has no identity provider; sign in with a key.")
        }
        return signIn
    }

    private static func begin(_ call: Call) async throws -> Response {
        let signIn = try signIn(call)
        let origin = call.parts.signIn.origin
        // One cookie for all tabs of a browser, so that a later attempt does not invalidate earlier ones.
        let browser =
            origin.value(of: .signIn, call.request).flatMap { RandomText.isOne($0) ? $0 : nil }
            ?? RandomText.make()
        let begun = BegunSignIn(
            in: browser, next: SignInRoutes.ownPath(call.query("next")), at: call.now)
        let url = try await signIn.provider.signInURL(state: begun.state, begun.proof)
        var response = Call.seeOther(url)
        response.headers[.setCookie] = origin.cookie(
            .signIn, browser, seconds: Int(BegunSignIn.duration / .seconds(1)))
        return response
    }

    private static func finish(_ call: Call) async throws -> Response {
        let signIn = try signIn(call)
        let (begun, browser) = try await begun(call, signIn)
        if let error = call.query("error") { throw Problem(ofProvider: error) }
        guard let code = call.query("code") else {
            throw Problem(.badParameter, "The provider's answer has neither a code nor an error.")
        }
        let identity: Identity
        do {
            identity = try await signIn.calls.withTurn(
                of: .address(OpenConnections.address(call.channel.remoteAddress)), as: browser
            ) {
                try await signIn.provider.identity(
                    forCode: code, issuer: call.query("iss"), begun.proof)
            }
        } catch is FairTurns.Full {
            throw Problem(
                .tooManyRequests,
                "Too many people return from the identity provider at a time; begin again in a moment.",
                retryAfter: 5)
        } catch let error as OIDCError {
            let problem = Problem(error)
            // Server errors are logged for each route.
            if problem.status.kind != .serverError {
                call.logger.warning(
                    "the identity provider signed no user in",
                    metadata: ["oidc.code": "\(error.code)", "oidc.reason": "\(error.message)"])
            }
            throw problem
        }
        let key = try await key(of: identity, call, signIn.settings)
        let token = try await call.parts.signIn.sessions.begin(
            keyID: key.id, person: identity.person)
        // Browsers do not send a session's cookie on a navigation that another site started, so a page of ours does the
        // redirect.
        var response = Response.page(
            SignedInPage(call.frame(), next: SignInRoutes.landing(begun.next, key)))
        response.headers[.setCookie] = call.parts.signIn.origin.cookie(
            .session, token, seconds: Int(SessionStore.duration / .seconds(1)))
        return response
    }

    /// Returns the sign-in that the browser returns from, and the browser's cookie. It must have begun in this browser and must be unused.
    private static func begun(
        _ call: Call, _ signIn: ProviderSignIn
    ) async throws -> (BegunSignIn, browser: String) {
        try call.parts.keys.checkContact()
        guard let state = call.query("state"),
            let browser = call.parts.signIn.origin.value(of: .signIn, call.request),
            let begun = BegunSignIn(state: state, in: browser, at: call.now),
            try await signIn.used.use(state)
        else {
            throw Problem(
                .signInOver,
                "This sign-in was not begun in this browser, took longer than \(Int(BegunSignIn.duration / .seconds(60))) "
                    + "minutes, or is used up. Begin again at the sign-in page.")
        }
        return (begun, browser)
    }

    /// Returns the key that a person acts with.
    private static func key(
        of identity: Identity, _ call: Call, _ settings: ProviderSignInSettings
    ) async throws -> AccessKey {
        let claim = settings.provider.claim.printable
        guard let role = settings.roles.role(of: identity.groups) else {
            let groups = identity.groups.prefix(shownGroupsMax)
                .map { String($0.prefix(shownLengthMax)).debugDescription.printable }
            let more = identity.groups.count - groups.count
            throw Problem(
                .noRole,
                "\(identity.person) has no role in this gateway. "
                    + (groups.isEmpty
                        ? "Its ID token has no claim \(claim)."
                        : "Its claim \(claim) says \(groups.joined(separator: ", "))"
                            + (more > 0 ? " and \(more) more." : "."))
                    + " The operator must give one of your groups a key: --oidc-role GROUP=KEY.")
        }
        do throws(KeyError) {
            return try await call.parts.keys.key(named: role.keyID)
        } catch {
            guard error.code != .keysUnavailable else { throw error }
            throw Problem(
                .noRole,
                "Your role \(role.group.debugDescription.printable) leads to key \(role.keyID), which cannot be used: "
                    + "\(error.message) The operator must give the role another key: --oidc-role."
            )
        }
    }
}
