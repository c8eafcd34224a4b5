import Redis

extension JobQueue {
    /// Checks the configuration of Redis, and refuses one under which Redis may drop jobs.
    ///
    /// Under any `maxmemory-policy` except `noeviction`, Redis deletes keys when memory is short: a lease, a job or the whole
    /// queue. Under `noeviction` it refuses new entries instead, and the producer receives the error.
    ///
    /// - Returns: Warnings for the log: settings that are valid but have a cost.
    /// - Throws: `unsafeServer`.
    public func checkServer() async throws(QueueError) -> [String] {
        // In a cluster, a command with a key leads to the node that has the queue; INFO goes to the node that the client has
        // reached.
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

    /// Returns a field of INFO. CONFIG GET also returns it, but returns passwords too, so no user of minilab has that permission.
    func memoryInfo(_ field: String) async throws(QueueError) -> String? {
        let info = try await send(["INFO", "memory"]).string ?? ""
        for line in info.split(whereSeparator: \.isNewline) where line.hasPrefix(field + ":") {
            return String(line.dropFirst(field.count + 1))
        }
        return nil
    }
}
