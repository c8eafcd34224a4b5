import Edits
package import JobQueue
package import Redis

/// The sign-ins that have returned from the provider, for all gateways, so that each of them counts once.
///
/// Each one is a string `minilab:{queue}:signin:<digest of the state>`, which expires. A zset of the digests, scored by expiry, bounds
/// their number. If others return so often that a mark is removed early, the provider still takes a code once.
package struct UsedSignIns: Sendable {
    /// The most marks, about 2 MB. A further one removes the oldest.
    package static let marksMax = 10_000
    /// The most expired or surplus marks that a new one removes.
    private static let sweptAtOnce = 100

    private let redis: RedisClient
    private let queue: QueueName
    private let marksMax: Int

    package init(redis: RedisClient, queue: QueueName, marksMax: Int = marksMax) {
        self.redis = redis
        self.queue = queue
        self.marksMax = marksMax
    }

    /// Marks a sign-in as used.
    ///
    /// - Returns: false if it was used before.
    func use(_ state: String) async throws -> Bool {
        let digest = SHA256.hash(data: state.utf8).hex
        do {
            return try await redis.run(
                Self.script, keys: [queue.keys.signIns, queue.keys.signIn(digest)],
                arguments: [
                    RedisArgument(digest),
                    RedisArgument(Int(BegunSignIn.duration / .milliseconds(1))),
                    RedisArgument(marksMax), RedisArgument(queue.keys.signIn("")),
                    RedisArgument(Self.sweptAtOnce),
                ]
            ).int == 1
        } catch {
            throw Problem(
                .queueUnavailable, "Sign-in is not possible now; try again.",
                retryAfter: Problem.retrySeconds)
        }
    }

    private static let script = RedisScript(
        name: "signin-use",
        source: """
            -- KEYS   zset of digests by their end, string of the mark
            -- ARGV   digest, how long (ms), most marks, prefix of the strings' names, most swept
            -- Returns 1, or 0 if the sign-in was used before
            -- Crash  The string expires alone; a digest without one is swept by a later call.
            local call = redis.call
            if call('EXISTS', KEYS[2]) == 1 then return 0 end
            local t = call('TIME')
            local now = t[1] * 1000 + math.floor(t[2] / 1000)
            local most = tonumber(ARGV[3])
            for _ = 1, tonumber(ARGV[5]) do
              local first = call('ZRANGE', KEYS[1], '0', '0', 'WITHSCORES')
              if not first[1] then break end
              if tonumber(first[2]) > now and call('ZCARD', KEYS[1]) < most then break end
              call('ZPOPMIN', KEYS[1])
              call('UNLINK', ARGV[4] .. first[1])
            end
            call('ZADD', KEYS[1], string.format('%d', now + tonumber(ARGV[2])), ARGV[1])
            call('SET', KEYS[2], '1', 'PX', ARGV[2])
            return 1
            """)
}
