import Redis

/// Why entries of the ingress stream are not taken in: enough jobs wait or run already. Urgent ones are taken in for longer.
public struct IngressHold: Sendable, Codable, Equatable {
    /// Entries that wait.
    public let entries: Int
    /// Single jobs that wait or run.
    public let jobs: Int
    /// Bytes of their large edits.
    public let bytes: Int

    /// For people.
    public var sentence: String {
        "\(entries) entries of the ingress stream are not taken in, because \(jobs) single jobs with \(bytes) bytes of large "
            + "edits wait or run already; minilab top shows whose they are. More are taken in as those end: start workers, "
            + "resume what is paused, or cancel what nobody wants."
    }
}

extension JobQueue {
    /// Finds out whether the last admission left entries of the ingress stream; nil when it did not.
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
