import Redis

extension JobQueue {
    /// Refuses a Redis that is set up so that it may drop jobs.
    ///
    /// Under any `maxmemory-policy` but `noeviction` Redis deletes keys when memory is short: a lease,
    /// a job or the whole queue. Under `noeviction` it refuses new entries instead, and a producer
    /// is told.
    ///
    /// - Returns: warnings for the log: settings that are allowed but cost something.
    /// - Throws: `unsafeServer`.
    public func checkServer() async throws(QueueError) -> [String] {
        // In a cluster a command with a key leads to the node that has the queue; INFO goes to whichever is reached.
        _ = try await send(["EXISTS", RedisArgument(name.keys.ingress)])
        let policy = try await memoryInfo("maxmemory_policy")
        guard policy == "noeviction" else {
            throw QueueError(
                .unsafeServer,
                "Redis has maxmemory-policy \(policy ?? "unknown"), under which it deletes jobs when "
                    + "memory is short; set it to noeviction: "
                    + "redis-cli CONFIG SET maxmemory-policy noeviction, and in redis.conf.")
        }
        var warnings: [String] = []
        let persistence = try await send(["INFO", "persistence"]).string ?? ""
        if !persistence.contains("aof_enabled:1") {
            warnings.append(
                "Redis keeps no append-only file: a restart of Redis loses jobs. "
                    + "Set appendonly yes and appendfsync everysec.")
        }
        return warnings
    }

    /// A field of INFO. CONFIG GET says the same, and passwords too: no user of ours may ask it.
    private func memoryInfo(_ field: String) async throws(QueueError) -> String? {
        let info = try await send(["INFO", "memory"]).string ?? ""
        for line in info.split(whereSeparator: \.isNewline) where line.hasPrefix(field + ":") {
            return String(line.dropFirst(field.count + 1))
        }
        return nil
    }
}
