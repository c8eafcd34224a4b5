import Edits
import FoundationEssentials
package import JobQueue
package import Redis

/// The sessions of people at the pages. A session is a random token in a cookie. Under the token's digest, Redis has
/// the key that the session acts with, and the person if an identity provider named one. So all gateways share the
/// sessions, and the data in Redis opens no page.
package struct SessionStore: Sendable {
    /// The lifetime of a session.
    package static let duration: Duration = .seconds(12 * 3600)

    private let redis: RedisClient
    private let queue: QueueName

    package init(redis: RedisClient, queue: QueueName) {
        self.redis = redis
        self.queue = queue
    }

    /// The holder of a session.
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

    /// Returns the holder of a session; nil if it has expired.
    func holder(of token: String) async throws -> Holder? {
        guard let record = try await send(["GET", RedisArgument(key(token))]).string else {
            return nil
        }
        let parts = record.split(separator: " ", maxSplits: 1)
        guard let keyID = parts.first else { return nil }
        return Holder(keyID: String(keyID), person: parts.count > 1 ? String(parts[1]) : nil)
    }

    /// Deletes a session.
    func end(_ token: String) async throws {
        _ = try await send(["UNLINK", RedisArgument(key(token))])
    }

    /// Returns the token that the forms of a session's pages carry, so that another site cannot forge them.
    static func formToken(of token: String) -> String {
        HMAC.sha256(of: "forms".utf8, key: token.utf8).prefix(16).hex
    }

    private func key(_ token: String) -> String {
        queue.keys.session(SHA256.hash(data: token.utf8).hex)
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
