import Redis

/// The reason why entries stay in the ingress stream: enough jobs wait or run already. The limit for urgent entries is higher.
public struct IngressHold: Sendable, Codable, Equatable {
    /// The number of entries that wait.
    public let entries: Int
    /// The number of single jobs that wait or run.
    public let jobs: Int
    /// The total size of their large edits, in bytes.
    public let bytes: Int

    /// The description for people.
    public var sentence: String {
        "\(entries) entries of the ingress stream are not admitted, because \(jobs) single jobs with \(bytes) bytes "
            + "of large edits already wait or run; minilab top shows their tenants. More entries are admitted as "
            + "those jobs end: start workers, resume paused tenants, or cancel unneeded jobs."
    }
}

extension JobQueue {
    /// Returns the hold if the last admission left entries in the ingress stream, otherwise nil.
    func ingressHold() async throws(QueueError) -> IngressHold? {
        let ahead = try await send([
            "HMGET", RedisArgument(name.keys.virtual), "aheadJobs", "aheadBytes", "held",
        ])
        let counts = (ahead.array ?? []).map { $0.string.flatMap { Int($0) } ?? 0 }
        guard counts.count == 3, counts[2] == 1,
            let entries = try await send(["XLEN", RedisArgument(name.keys.ingress)]).int,
            entries > 0
        else { return nil }
        return IngressHold(entries: Int(entries), jobs: counts[0], bytes: counts[1])
    }
}
