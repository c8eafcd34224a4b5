import Edits
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import MinilabTesting
import NIOCore
import Synchronization

/// An identity provider on this machine: it does its part of OpenID Connect's code flow with PKCE, and what a test tells it to
/// do wrong.
final class TestProvider: Sendable {
    static let clientID = "minilab"
    static let clientSecret = "s3cret+/ %"

    /// Its action instead of an answer.
    enum Fault: Sendable {
        case html, huge, redirect, status(Int), deep
        /// The right answer, under another type.
        case mislabelled
    }

    /// How it behaves. The person and the faults are the test's to choose.
    struct Behaviour: Sendable {
        /// Claims beside or instead of the usual ones; null leaves one out.
        var claims: [String: JSONValue] = [:]
        var signing = TokenMaker.Signing.rs256
        var header: [String: JSONValue] = [:]
        var keyName: String?
        /// Changes the signed token.
        var tamper: @Sendable (String) -> String = { $0 }
        var faults: [String: Fault] = [:]
        /// The `iss` of its answers.
        var answersAs: String?
        /// The issuer of its document.
        var issuer: String?
        /// An error instead of a code.
        var error: String?
        var requiresSecretInForm = false
        /// Takes no code.
        var refusesCodes = false
    }

    private struct Code {
        let challenge: String
        let nonce: String
        let redirectURI: String
    }

    private struct State {
        var behaviour = Behaviour()
        var keys: TokenMaker
        var codes: [String: Code] = [:]
        var asked: [String: Int] = [:]
    }

    private let state: Mutex<State>
    private let server = Mutex<RunningServer?>(nil)

    var port: Int { server.withLock { $0?.port } ?? 0 }
    var issuer: String { "http://127.0.0.1:\(port)/realm" }

    /// How often something was asked for.
    func asked(_ path: String) -> Int { state.withLock { $0.asked[path] ?? 0 } }

    func behave(_ change: @Sendable (inout Behaviour) -> Void) {
        state.withLock { change(&$0.behaviour) }
    }

    /// Signs with new keys from now on, and lists these alone.
    func rotate(to keys: TokenMaker) { state.withLock { $0.keys = keys } }

    init() async throws {
        let keys = try TokenMaker("k1")
        state = Mutex(State(keys: keys))
        let router = routes()
        let server = try await RunningServer { onServerRunning in
            Application(
                router: router,
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: onServerRunning,
                logger: Logger(label: "provider") { _ in SwiftLogNoOpLogHandler() })
        }
        self.server.withLock { $0 = server }
    }

    /// Is away from now on.
    func stop() async { await server.withLock { $0 }?.stop() }

    private func routes() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("/realm/.well-known/openid-configuration") { [weak self] _, _ in
            try self?.answer("discovery") { $0.discovery } ?? Response(status: .notFound)
        }
        router.get("/realm/keys") { [weak self] _, _ in
            try self?.answer("keys") { provider in
                try provider.state.withLock { try $0.keys.keySet }
            } ?? Response(status: .notFound)
        }
        router.get("/realm/authorize") { [weak self] request, _ in
            self?.authorize(request) ?? Response(status: .notFound)
        }
        router.post("/realm/token") { [weak self] request, _ in
            let body = String(buffer: try await request.body.collect(upTo: 1 << 20))
            let basic = request.headers[.authorization]
            return try self?.answer("token") { try $0.token(Self.fields(body), basic) }
                ?? Response(status: .notFound)
        }
        return router
    }

    private struct Refusal: Error { let code: String }

    private func answer(
        _ path: String, _ document: (TestProvider) throws -> JSONValue
    ) throws -> Response {
        let fault = state.withLock { state in
            state.asked[path, default: 0] += 1
            return state.behaviour.faults[path]
        }
        switch fault {
        case .html:
            return Self.response(.ok, "text/html", "<title>Maintenance</title>")
        case .huge:
            return Self.response(
                .ok, "application/json",
                "{\"padding\":\"" + String(repeating: "x", count: 1 << 20) + "\"}")
        case .deep:
            return Self.response(
                .ok, "application/json",
                String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000))
        case .redirect:
            return Response(
                status: .found, headers: [.location: "\(issuer)/elsewhere"])
        case .status(let code):
            return Self.response(.init(code: code), "application/json", "{}")
        case .mislabelled:
            return Self.response(.ok, "text/html", try document(self).canonical)
        case nil: break
        }
        do {
            return Self.response(.ok, "application/json", try document(self).canonical)
        } catch let refusal as Refusal {
            return Self.response(
                refusal.code == "invalid_client" ? .unauthorized : .badRequest, "application/json",
                "{\"error\":\"\(refusal.code)\"}")
        }
    }

    private var discovery: JSONValue {
        let behaviour = state.withLock { $0.behaviour }
        return .object([
            "issuer": .string(behaviour.issuer ?? issuer),
            "authorization_endpoint": .string("\(issuer)/authorize?prompt=login"),
            "token_endpoint": .string("\(issuer)/token"), "jwks_uri": .string("\(issuer)/keys"),
            "token_endpoint_auth_methods_supported": .array([
                .string(
                    behaviour.requiresSecretInForm ? "client_secret_post" : "client_secret_basic")
            ]),
        ])
    }

    /// Sends the person back with a code, as if they had said who they are.
    private func authorize(_ request: Request) -> Response {
        let asked = Self.fields(request.uri.query ?? "")
        guard asked["response_type"] == "code", asked["client_id"] == Self.clientID,
            asked["prompt"] == "login",
            asked["scope"]?.split(separator: " ").contains("openid") ?? false,
            asked["code_challenge_method"] == "S256", let challenge = asked["code_challenge"],
            let nonce = asked["nonce"], let back = asked["redirect_uri"],
            let given = asked["state"]
        else { return Response(status: .badRequest) }
        let behaviour = state.withLock { $0.behaviour }
        var fields = ["state": given]
        if let error = behaviour.error {
            fields["error"] = error
            fields["error_description"] = "<script>alert(1)</script>"
        } else {
            let code = "code/+\(UInt64.random(in: 0...UInt64.max))"
            fields["code"] = code
            fields["iss"] = behaviour.answersAs ?? issuer
            state.withLock {
                $0.codes[code] = Code(challenge: challenge, nonce: nonce, redirectURI: back)
            }
        }
        let query = fields.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        return Response(status: .found, headers: [.location: "\(back)?\(query)"])
    }

    /// Exchanges a code, once, for whoever shows the verifier that its challenge was made of.
    private func token(_ form: [String: String], _ basic: String?) throws -> JSONValue {
        let (code, behaviour, keys) = state.withLock { state in
            (state.codes.removeValue(forKey: form["code"] ?? ""), state.behaviour, state.keys)
        }
        let own = "\(Self.clientID):\(Self.encoded(Self.clientSecret))"
        let isClient =
            behaviour.requiresSecretInForm
            ? form["client_id"] == Self.clientID && form["client_secret"] == Self.clientSecret
            : basic == "Basic " + Data(own.utf8).base64EncodedString()
        guard isClient else { throw Refusal(code: "invalid_client") }
        let shown = Data(SHA256.hash(data: Data((form["code_verifier"] ?? "").utf8))).base64URL
        guard let code, !behaviour.refusesCodes, form["grant_type"] == "authorization_code",
            form["redirect_uri"] == code.redirectURI, shown == code.challenge
        else { throw Refusal(code: "invalid_grant") }
        let now = Date.now.timeIntervalSince1970.rounded()
        var claims: [String: JSONValue] = [
            "iss": .string(issuer), "aud": .string(Self.clientID), "sub": .string("248289761001"),
            "nonce": .string(code.nonce), "iat": .number(now), "exp": .number(now + 300),
            "email": .string("ada@example.com"), "email_verified": .bool(true),
            "groups": .array([.string("everybody"), .string("photo-ops")]),
        ]
        for (name, value) in behaviour.claims { claims[name] = value == .null ? nil : value }
        let token = try keys.token(
            claims, behaviour.signing, keyName: behaviour.keyName, header: behaviour.header)
        return .object([
            "access_token": .string("unused"), "token_type": .string("Bearer"),
            "id_token": .string(behaviour.tamper(token)),
        ])
    }

    private static func response(
        _ status: HTTPResponse.Status, _ type: String, _ body: String
    ) -> Response {
        Response(
            status: status, headers: [.contentType: type],
            body: .init(byteBuffer: ByteBuffer(string: body)))
    }

    /// The fields of a query or a form.
    static func fields(_ text: String) -> [String: String] {
        Dictionary(
            text.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map {
                    String($0).replacing("+", with: " ").removingPercentEncoding ?? ""
                }
                return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
            }, uniquingKeysWith: { first, _ in first })
    }

    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"))
            ?? ""
    }
}
