public import Edits
import Redis

/// The newest batches of a list.
public struct BatchList: Sendable, Equatable {
    /// The last opened one first.
    public let records: [BatchRecord]
    /// The number of further batches that the list leaves out.
    public let more: Int

    /// The batches of a list, by whether they have ended.
    public enum Part: Sendable {
        case all, open, ended

        fileprivate func has(ended: Bool) -> Bool {
            switch self {
            case .all: true
            case .open: !ended
            case .ended: ended
            }
        }
    }
}

extension JobQueue {
    /// Returns the record of a batch; nil if no batch of this name was opened, or if its record was dropped some time after it
    /// ended.
    public func record(of batch: BatchID) async throws(QueueError) -> BatchRecord? {
        try await records(ofBatches: [batch.string]).first
    }

    /// Returns the edit of a batch, as the producer sent it.
    public func edit(of batch: BatchID) async throws(QueueError) -> String? {
        try await send("GET", name.keys.batchEdit(batch.string)).string
    }

    /// The maximum number of batches that a list shows.
    public static let batchesListedMax = 1000

    /// Returns the newest batches of a part of the queue's. However many there are, the list chooses among all of them.
    ///
    /// - Parameters:
    ///   - reach: The batches that the caller may see.
    ///   - count: The maximum number of batches.
    public func batches(
        _ part: BatchList.Part = .all, within reach: Reach = .everything, count: Int
    ) async throws(QueueError) -> BatchList {
        if part != .all || !reach.isEverything {
            return try await newest(
                count, of: try await namesOfBatches(part, within: reach), part)
        }
        let key = name.keys.batches
        let replies = try await sendAll([["ZRANGE", key, 0, count - 1, "REV"], ["ZCARD", key]])
        let names = replies[0].array?.compactMap(\.string) ?? []
        return BatchList(
            records: try await records(ofBatches: names),
            more: max(0, Int(replies[1].int ?? 0) - names.count))
    }

    /// Returns all batches that have not ended, the last opened one first. Decisions about a queue's work, or a tenant's, are made by them.
    public func openBatches() async throws(QueueError) -> [BatchRecord] {
        let names = try await namesOfBatches(.open, within: .everything)
        return try await newest(names.count, of: names, .open).records
    }

    /// - Parameter names: In the order of ``namesOfBatches(_:within:)``.
    private func newest(
        _ count: Int, of names: [String], _ part: BatchList.Part
    ) async throws(QueueError) -> BatchList {
        let newest = try await records(ofBatches: names.suffix(count).reversed())
        return BatchList(
            // One may have ended since its name was read.
            records: newest.filter { part.has(ended: $0.isComplete) },
            more: max(0, names.count - count))
    }

    /// The number of batches whose facts are read by one call.
    static let batchNamesStep = 500

    /// Returns the names of all batches of a part, the first opened one first. Those that are opened after the call began are left out.
    private func namesOfBatches(
        _ part: BatchList.Part, within reach: Reach
    ) async throws(QueueError) -> [String] {
        let keys = name.keys
        let newest = try await send("ZRANGE", keys.batches, "-1", "-1", "WITHSCORES")
        // A batch that was opened while the clock was ahead was opened in the future.
        let until = max(try await now(), newest.array?.last?.int.map { Int($0) } ?? 0)
        var names: [String] = []
        var last = ScoredMember(name: "", score: 0)
        while true {
            let page = try await members(
                of: keys.batches, after: last, until: until, count: Self.batchNamesStep)
            guard let end = page.last else { return names }
            last = end
            let facts = try await sendAll(
                page.map { ["HMGET", keys.batch($0.name), "tenant", "folder", "ended"] },
                skippingDamaged: true)
            for (batch, reply) in zip(page.map(\.name), facts) {
                // Without a tenant it is no record of a batch.
                guard let fields = reply.array?.map(\.string), fields.count == 3,
                    let tenant = fields[0], part.has(ended: fields[2] != nil),
                    reach.covers(batch: batch, tenant: tenant, folder: fields[1])
                else { continue }
                names.append(batch)
            }
        }
    }

    /// The number of batches that are read by one call, so that calls of others come between: a connection takes 10,000 commands.
    private static let batchesStep = 100

    private func records(ofBatches names: [String]) async throws(QueueError) -> [BatchRecord] {
        var records: [BatchRecord] = []
        for start in stride(from: 0, to: names.count, by: Self.batchesStep) {
            let some = names[start..<min(start + Self.batchesStep, names.count)]
            records += try await read(batches: Array(some))
        }
        return records
    }

    private func read(batches names: [String]) async throws(QueueError) -> [BatchRecord] {
        let keys = name.keys
        let replies = try await sendAll(
            [["TIME"]]
                + names.flatMap { [["HGETALL", keys.batch($0)], ["XLEN", keys.batchStream($0)]] },
            skippingDamaged: true)
        let now = Int((replies[0].array?.first?.int ?? 0) * 1000)
        let records = names.enumerated().compactMap { index, name in
            BatchRecord(
                name, replies[1 + 2 * index].pairs ?? [:],
                lane: Int(replies[2 + 2 * index].int ?? 0), now: now)
        }
        return try await withTenantCaps(records)
    }

    /// Adds the caps of their tenants to records of batches that have not ended.
    private func withTenantCaps(
        _ records: [BatchRecord]
    ) async throws(QueueError) -> [BatchRecord] {
        let tenants = Set(records.filter { !$0.isComplete }.map(\.tenant)).sorted()
        if tenants.isEmpty { return records }
        let fields = ["cap"] + tenants.map { "cap:" + $0 }
        let reply = try await send("HMGET", name.keys.config, fields)
        let values = (reply.array ?? []).map { $0.string.flatMap { Int($0) } }
        var caps: [String: Int] = [:]
        for (tenant, cap) in zip(tenants, values.dropFirst()) {
            caps[tenant] = cap ?? (values.first ?? nil)
        }
        return records.map { record in
            var record = record
            record.tenantCap = caps[record.tenant]
            return record
        }
    }
}
