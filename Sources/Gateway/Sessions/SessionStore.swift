import Crypto
import FoundationEssentials
package import JobQueue
package import Redis

/// Sessions of people at the pages: a random token in a cookie, under whose digest Redis knows the key that it was
/// exchanged for. So every gateway knows it, and what can be read in Redis opens no page.
package struct SessionStore: Sendable {
    /// How long a session lasts.
    package static let duration: Duration = .seconds(12 * 3600)
    private static let tokenBytes = 32

    private let redis: RedisClient
    private let queue: QueueName

    package init(redis: RedisClient, queue: QueueName) {
        self.redis = redis
        self.queue = queue
    }

    /// Begins a session of a key's holder.
    ///
    /// - Returns: the token, which is given to the browser and kept nowhere.
    func begin(keyID: String) async throws -> String {
        var random = SystemRandomNumberGenerator()
        let token = Data(
            (0..<Self.tokenBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
        )
        .base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
        _ = try await send([
            "SET", RedisArgument(key(token)), RedisArgument(keyID), "EX",
            RedisArgument(Int(Self.duration / .seconds(1))),
        ])
        return token
    }

    /// The id of the key that a session was begun with; nil when it is over.
    func keyID(of token: String) async throws -> String? {
        try await send(["GET", RedisArgument(key(token))]).string
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
