import Adjustments
import Crypto
import FoundationEssentials
package import JobQueue
import OpenIDConnect
package import Redis

/// Sessions of people at the pages: a random token in a cookie, under whose digest Redis knows the key that it
/// acts with, and the person if an identity provider named one. So every gateway knows it, and what can be read in Redis opens no page.
package struct SessionStore: Sendable {
    /// How long a session lasts.
    package static let duration: Duration = .seconds(12 * 3600)

    private let redis: RedisClient
    private let queue: QueueName

    package init(redis: RedisClient, queue: QueueName) {
        self.redis = redis
        self.queue = queue
    }

    /// Whose session it is.
    struct Holder: Sendable, Equatable {
        /// The key that it acts with.
        let keyID: String
        /// The person whom an identity provider named; nil for who has shown the key itself.
        let person: String?
    }

    /// Begins a session.
    ///
    /// - Parameter person: one line; nil for a key's holder.
    /// - Returns: the token, which is given to the browser and kept nowhere.
    func begin(keyID: String, person: String? = nil) async throws -> String {
        let token = RandomText.make()
        // An id has no blank.
        let record = person.map { "\(keyID) \($0)" } ?? keyID
        _ = try await send([
            "SET", RedisArgument(key(token)), RedisArgument(record), "EX",
            RedisArgument(Int(Self.duration / .seconds(1))),
        ])
        return token
    }

    /// Whose session it is; nil when it is over.
    func holder(of token: String) async throws -> Holder? {
        guard let record = try await send(["GET", RedisArgument(key(token))]).string else {
            return nil
        }
        let parts = record.split(separator: " ", maxSplits: 1)
        guard let keyID = parts.first else { return nil }
        return Holder(keyID: String(keyID), person: parts.count > 1 ? String(parts[1]) : nil)
    }

    /// Ends a session.
    func end(_ token: String) async throws {
        _ = try await send(["UNLINK", RedisArgument(key(token))])
    }

    /// The token that the forms of a session's pages carry, so that no other site can make them up.
    static func formToken(of token: String) -> String {
        HMAC<SHA256>.authenticationCode(
            for: Array("forms".utf8), using: SymmetricKey(data: Array(token.utf8))
        ).prefix(16).hex
    }

    private func key(_ token: String) -> String {
        queue.keys.session(SHA256.hash(data: Array(token.utf8)).hex)
    }

    private func send(_ command: [RedisArgument]) async throws -> RedisReply {
        do {
            return try await redis.send(command)
        } catch {
            throw Problem(
                .queueUnavailable, "Sessions cannot be looked up now; try again.",
                retryAfter: Problem.retrySeconds)
        }
    }
}
