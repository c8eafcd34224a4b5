import FoundationEssentials
import Redis

extension JobQueue {
    /// The time for which harm to an ingress stream is reported: while an operator may still search for a lost job.
    private static let harmReportedFor: Duration = .seconds(7 * 86400)

    /// Returns the harm that producers did to the ingress streams. An XADD can do such harm, and no ACL forbids it.
    func harmWarnings() async throws(QueueError) -> [String] {
        try await harmWarnings(of: "the ingress stream", "ingress")
            + harmWarnings(of: "the ingress stream in:interactive", "ingress:interactive")
    }

    private func harmWarnings(
        of stream: String, _ key: String
    ) async throws(QueueError) -> [String] {
        let facts = try await send(["HGETALL", RedisArgument(name.keys.prefix + key)]).pairs ?? [:]
        let since = try await now() - Self.harmReportedFor.milliseconds
        func lately(_ count: String, _ time: String) -> (count: String, at: String)? {
            guard let count = facts[count], let at = facts[time].flatMap({ Int($0) }), at > since
            else { return nil }
            let date = Date(timeIntervalSince1970: Double(at) / 1000)
            return (count, date.formatted(.iso8601))
        }
        var warnings: [String] = []
        if let lost = lately("lost", "lostAt") {
            warnings.append(
                "\(lost.count) entries of \(stream) were dropped before a worker read them, the last at \(lost.at): "
                    + "a producer sends XTRIM, or XADD with MAXLEN or MINID. Find the producer (ops/RUNBOOK.md). "
                    + "Send the jobs again for which no event reported an end."
            )
        }
        if let renewed = lately("renewals", "renewedAt") {
            warnings.append(
                "\(stream) was ended \(renewed.count) times by an id in the far future, the last at "
                    + "\(renewed.at), and repaired: a producer sends XADD with an id instead of *. Find the "
                    + "producer (ops/RUNBOOK.md).")
        }
        return warnings
    }
}
