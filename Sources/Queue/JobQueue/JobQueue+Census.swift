import Redis

extension JobQueue {
    /// The contents of a queue's structures.
    struct Census {
        /// The number of jobs by structure.
        var counts: [String: Int] = [:]
        /// The flows that have jobs.
        var flows: [QueueStatus.Flow] = []
        /// The number of entries of batch streams.
        var inBatchStreams = 0
    }

    /// The number of flows and batch streams of one call. A script must be short, because Redis executes nothing else meanwhile.
    static let censusStep = 500

    /// Counts the contents of all structures, at one moment unless there are more than ``censusStep`` flows or batch streams.
    ///
    /// At most ``QueueStatus/flowsMax`` flows and as many batch streams are inspected.
    func census() async throws(QueueError) -> Census {
        var census = Census()
        var positions = [RedisArgument](repeating: "0", count: 6)
        for _ in 0..<QueueStatus.flowsMax / Self.censusStep {
            let reply = try await run(
                QueueScript.census, [RedisArgument(Self.censusStep)] + positions)
            guard let parts = reply.array, parts.count == 4, let rows = parts[0].array,
                let flows = parts[1].array, let inBatchStreams = parts[2].int,
                let next = parts[3].array?.compactMap(\.string), next.count == positions.count
            else { throw unexpected(reply, of: QueueScript.census) }
            for row in rows {
                guard let name = row.array?.first?.string, let count = row.array?.last?.int else {
                    throw unexpected(row, of: QueueScript.census)
                }
                census.counts[name] = census.counts[name] ?? Int(count)
            }
            for row in flows {
                guard let flow = QueueStatus.Flow(row) else {
                    throw unexpected(row, of: QueueScript.census)
                }
                census.flows.append(flow)
            }
            census.inBatchStreams += Int(inBatchStreams)
            if next.allSatisfy({ $0 == "-" }) { break }
            positions = next.map { RedisArgument($0) }
        }
        return census
    }
}
