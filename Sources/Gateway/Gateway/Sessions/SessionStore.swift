import AccessKeys
import Edits
import FoundationEssentials
import HTTPTypes
import Hummingbird
package import JobQueue
package import Redis

/// The sessions of people at the pages. A session is a random token in a cookie. Under the token's digest, Redis has
/// the key that the session acts with, and the person if an identity provider named one. So all gateways share the
/// sessions, and the data in Redis opens no page.
package struct SessionStore: Sendable {
    package static let duration: Duration = .seconds(12 * 3600)

    private let redis: RedisClient
    private let queue: QueueName

    package init(redis: RedisClient, queue: QueueName) {
        self.redis = redis
        self.queue = queue
    }

    struct Holder: Sendable, Equatable {
        /// The id of the key that the session acts with.
        let keyID: String
        /// The person, as the identity provider named them; nil for a caller that presented the key itself.
        let person: String?
    }

    /// Starts a session.
    ///
    /// - Parameter person: one line; nil for a person who signed in with the key.
    /// - Returns: the token, which is sent to the browser and stored nowhere.
    func begin(keyID: String, person: String? = nil) async throws -> String {
        let token = RandomText.make()
        // An id has no spaces, so the first space ends it.
        let record = person.map { "\(keyID) \($0)" } ?? keyID
        do {
            _ = try await redis.run(
                Self.script, keys: [key(token)],
                arguments: [
                    RedisArgument(record), RedisArgument(Int(Self.duration / .seconds(1))),
                ])
        } catch {
            throw Self.unavailable
        }
        return token
    }

    /// It also runs while Redis is full: an operator signs in to free it.
    private static let script = RedisScript(
        name: "begin_session",
        source: """
            #!lua flags=allow-oom
            -- KEYS   the session
            -- ARGV   its record, how long it lasts (s)
            -- Returns OK
            -- Crash  The session is there or not.
            return redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
            """)

    func holder(of token: String) async throws -> Holder? {
        guard let record = try await send(["GET", RedisArgument(key(token))]).string else {
            return nil
        }
        let parts = record.split(separator: " ", maxSplits: 1)
        guard let keyID = parts.first else { return nil }
        return Holder(keyID: String(keyID), person: parts.count > 1 ? String(parts[1]) : nil)
    }

    func end(_ token: String) async throws {
        _ = try await send(["UNLINK", RedisArgument(key(token))])
    }

    /// Returns the token that the forms of a session's pages carry, so that another site cannot forge them.
    static func formToken(of token: String) -> String {
        HMAC.sha256(of: "forms".utf8, key: token.utf8).prefix(16).hex
    }

    private func key(_ token: String) -> String {
        queue.gatewayKeys.session(SHA256.hash(data: token.utf8).hex)
    }

    private func send(_ command: [RedisArgument]) async throws -> RedisReply {
        do {
            return try await redis.send(command)
        } catch {
            throw Self.unavailable
        }
    }

    private static var unavailable: Problem {
        Problem(
            .queueUnavailable, "Sessions cannot be looked up now; try again.",
            retryAfter: Problem.retrySeconds)
    }
}

/// The limit of the sessions that each key begins, of which the holder of one key cannot use up another's. Keys have 256 bits, so
/// guessing needs no limit.
struct SignInLimit: Sendable {
    /// The sessions a second, and the burst. Each takes 200 bytes of Redis for ``SessionStore/duration``.
    static let perSecond = 1
    static let atOnce = 60

    private let limiter = RateLimiter(name: "signins")

    /// - Throws: `tooManyRequests`.
    func charge(_ key: AccessKey) throws(Problem) {
        let answer = limiter.consume(for: key.id, rate: Self.perSecond, burst: Self.atOnce)
        guard answer.isAllowed else {
            throw Problem(
                .tooManyRequests,
                "Key \(key.id) began \(Self.atOnce) sessions in a moment; try again in a moment.",
                retryAfter: answer.retryAfterSeconds)
        }
    }
}

/// The origin under which browsers reach the pages, and the check that a request comes from one of our own pages.
struct PageOrigin: Sendable {
    /// The origin, such as `https://photos.example.com`; nil for this machine only, under its local names.
    let origin: String?

    /// The names under which a browser reaches its own machine, where a cookie needs no TLS.
    private static let ownNames: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// Whether cookies are sent over TLS only.
    var isSecure: Bool { origin?.hasPrefix("https://") ?? false }

    /// The cookies of the pages.
    enum Cookie {
        /// The session. Browsers do not send it on navigations from another site.
        case session
        case signIn

        fileprivate var name: String {
            switch self {
            case .session: "minilab"
            case .signIn: "minilab-signin"
            }
        }

        fileprivate var sameSite: String {
            switch self {
            case .session: "Strict"
            case .signIn: "Lax"
            }
        }
    }

    /// Returns the name of a cookie. Browsers restrict names with `__Host-` to this host and to TLS.
    private func name(of cookie: Cookie) -> String {
        (isSecure ? "__Host-" : "") + cookie.name
    }

    /// Returns the field that sets a cookie for a number of seconds; 0 removes the cookie.
    func cookie(_ cookie: Cookie, _ value: String, seconds: Int) -> String {
        "\(name(of: cookie))=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=\(cookie.sameSite)"
            + (isSecure ? "; Secure" : "")
    }

    func value(of cookie: Cookie, _ request: Request) -> String? {
        let start = name(of: cookie) + "="
        // Bytes, and each line once: 3,200 cookies in 16 KB took a lazy chain 2.7 s, which split their line again for each.
        for line in request.headers[values: .cookie] {
            for pair in line.utf8.split(separator: UInt8(ascii: ";")) {
                let text = Substring(pair).trimmingSpaces
                guard text.hasPrefix(start) else { continue }
                let value = text.dropFirst(start.count)
                if (1...Self.valueBytesMax).contains(value.utf8.count) { return String(value) }
            }
        }
        return nil
    }

    /// The most bytes of a cookie's value that is looked at: a token has fewer.
    private static let valueBytesMax = 100

    /// Refuses requests under a foreign host name. A site that resolves its own name to this address (DNS rebinding)
    /// would otherwise share the origin of our pages.
    func checkHost(_ request: Request) throws(Problem) {
        let host = request.head.authority ?? ""
        if let origin {
            guard origin.hasSuffix("://\(host)") else { throw refusal(host) }
        } else {
            let end =
                host.hasPrefix("[") ? host.firstIndex(of: "]").map { host.index(after: $0) } : nil
            let name = end.map { host[..<$0] } ?? host.prefix { $0 != ":" }
            guard Self.ownNames.contains(String(name)) else { throw refusal(host) }
        }
    }

    private func refusal(_ host: String) -> Problem {
        Problem(
            .foreignOrigin,
            origin == nil
                ? "Pages are served to this machine alone, as http://localhost. For others, put a proxy with TLS in front and "
                    + "give its address with --origin."
                : "Pages are not served as \(String(host.prefix(80)).debugDescription).")
    }

    /// Refuses requests that a page of another site sent, according to Fetch Metadata or else to `Origin`.
    func checkSender(_ request: Request) throws(Problem) {
        if let site = request.headers[.secFetchSite] {
            guard site == "same-origin" else {
                throw Problem(.foreignOrigin, "The form was sent by a page of another site.")
            }
        } else if let sender = request.headers[.origin] {
            let own = origin ?? "http://\(request.head.authority ?? "")"
            guard sender == own else {
                throw Problem(.foreignOrigin, "The form was sent by a page of another site.")
            }
        }
    }
}
