import Adjustments
import Cryptography
import FoundationEssentials
package import JobQueue
import OpenIDConnect
package import Redis

/// Sign-ins that were started and have not returned from the provider. All gateways share them, because the browser may
/// return to another gateway.
///
/// Each one is a string `minilab:{queue}:signin:<digest of the state>`, which expires. A zset of the digests, scored by
/// expiry, bounds their number. A reader of Redis learns no state, and so cannot complete a sign-in.
package struct SignInAttempts: Sendable {
    /// The time that a person may take at the provider.
    package static let duration = Duration.seconds(600)
    /// The most attempts at a time, about 7 MB. A further one removes the oldest.
    package static let attemptsMax = 10_000
    /// The most expired or surplus attempts that a new one removes.
    private static let sweptAtOnce = 100

    /// A sign-in that was started.
    struct Attempt: Codable, Sendable, Equatable {
        /// The format version of this record.
        var format = 1
        let verifier: String
        let nonce: String
        /// The digest of the browser's cookie.
        let browser: String
        /// The path to open after sign-in.
        let next: String?

        init(_ proof: SignInProof, browser: String, next: String?) {
            verifier = proof.verifier
            nonce = proof.nonce
            self.browser = SignInAttempts.digest(browser)
            self.next = next
        }

        var proof: SignInProof { SignInProof(verifier: verifier, nonce: nonce) }

        /// Returns whether the attempt started in the browser with this cookie.
        func isBegun(in browser: String) -> Bool {
            isSameSecret(self.browser, SignInAttempts.digest(browser))
        }
    }

    private let redis: RedisClient
    private let queue: QueueName
    private let attemptsMax: Int

    package init(redis: RedisClient, queue: QueueName, attemptsMax: Int = attemptsMax) {
        self.redis = redis
        self.queue = queue
        self.attemptsMax = attemptsMax
    }

    /// Stores an attempt until it is removed or expires.
    func keep(_ attempt: Attempt, state: String) async throws {
        let digest = Self.digest(state)
        let record = String(decoding: try JSONEncoder().encode(attempt), as: UTF8.self)
        _ = try await answer {
            try await redis.run(
                Self.keeping, keys: [queue.keys.signIns, queue.keys.signIn(digest)],
                arguments: [
                    RedisArgument(digest), RedisArgument(record),
                    RedisArgument(Int(Self.duration / .milliseconds(1))),
                    RedisArgument(attemptsMax), RedisArgument(queue.keys.signIn("")),
                    RedisArgument(Self.sweptAtOnce),
                ])
        }
    }

    /// Removes an attempt and returns it. This succeeds once.
    ///
    /// - Returns: nil if the attempt is unknown, expired or already used.
    func remove(state: String) async throws -> Attempt? {
        let digest = Self.digest(state)
        let reply = try await answer {
            try await redis.run(
                Self.removing, keys: [queue.keys.signIns, queue.keys.signIn(digest)],
                arguments: [RedisArgument(digest)])
        }
        guard let text = reply.string else { return nil }
        do {
            return try JSONDecoder().decode(Attempt.self, from: Data(text.utf8))
        } catch {
            // The record is of another version of minilab. The person starts again.
            return nil
        }
    }

    private func answer(_ send: () async throws -> RedisReply) async throws(Problem) -> RedisReply {
        do {
            return try await send()
        } catch {
            throw Problem(
                .queueUnavailable, "Sign-in is not possible now; try again.",
                retryAfter: Problem.retrySeconds)
        }
    }

    private static func digest(_ text: String) -> String {
        SHA256.hash(data: text.utf8).hex
    }

    private static let keeping = RedisScript(
        name: "signin-keep",
        source: """
            -- KEYS   zset of digests by their end, string of the attempt
            -- ARGV   digest, record, how long (ms), most attempts, prefix of the strings' names, most swept
            -- Returns 1
            -- Crash  The string goes by itself; a digest without one is swept by a later attempt.
            local call = redis.call
            local t = call('TIME')
            local now = t[1] * 1000 + math.floor(t[2] / 1000)
            local most = tonumber(ARGV[4])
            for _ = 1, tonumber(ARGV[6]) do
              local first = call('ZRANGE', KEYS[1], '0', '0', 'WITHSCORES')
              if not first[1] then break end
              if tonumber(first[2]) > now and call('ZCARD', KEYS[1]) < most then break end
              call('ZPOPMIN', KEYS[1])
              call('UNLINK', ARGV[5] .. first[1])
            end
            call('ZADD', KEYS[1], string.format('%d', now + tonumber(ARGV[3])), ARGV[1])
            call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
            return 1
            """)

    private static let removing = RedisScript(
        name: "signin-remove",
        source: """
            -- KEYS   zset of digests by their end, string of the attempt
            -- ARGV   digest
            -- Returns the record, or false
            -- Crash  It was removed or was not; then the person begins again.
            local record = redis.call('GET', KEYS[2])
            redis.call('UNLINK', KEYS[2])
            redis.call('ZREM', KEYS[1], ARGV[1])
            return record
            """)
}
