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

        func has(ended: Bool) -> Bool {
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
        var reader = BatchReader(self, part, within: reach, count: count)
        while true {
            if let list = try await reader.next() { return list }
        }
    }

    /// Returns all batches that have not ended, the last opened one first. Decisions about a queue's work, or a tenant's, are made by them.
    public func openBatches() async throws(QueueError) -> [BatchRecord] {
        try await batches(.open, count: .max).records
    }

    /// - Parameter names: At most ``BatchReader/recordsStep``.
    func records(ofBatches names: [String]) async throws(QueueError) -> [BatchRecord] {
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
