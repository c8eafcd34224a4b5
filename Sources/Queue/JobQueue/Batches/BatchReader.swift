public import Edits
import Redis

/// Reads the newest batches of a part of a queue's in steps of a few ms, between which others may have their turns: of a caller that sees
/// some batches alone, the list is chosen among all that Redis keeps.
public struct BatchReader: Sendable {
    private enum Place {
        case start
        /// Names are read of batches after a member of the zset, opened at a time at most.
        case names(after: ScoredMember, until: Int)
        /// Records are read of the names from an index on.
        case records(from: Int)
    }

    /// The number of batches whose facts are read in one step.
    static let namesStep = 500
    /// The number of batches that are read in one step: a connection takes 10,000 commands.
    static let recordsStep = 100

    private let queue: JobQueue
    private let part: BatchList.Part
    private let reach: Reach
    private let count: Int
    private var place = Place.start
    /// The names of the batches, the first opened one first; while records are read, those of the newest, the last opened one first.
    private var names: [String] = []
    private var records: [BatchRecord] = []
    /// The number of batches that the list leaves out.
    private var more = 0

    /// - Parameters:
    ///   - reach: The batches that the caller may see.
    ///   - count: The maximum number of batches.
    public init(
        _ queue: JobQueue, _ part: BatchList.Part = .all, within reach: Reach = .everything,
        count: Int
    ) {
        (self.queue, self.part, self.reach, self.count) = (queue, part, reach, count)
    }

    /// Takes a step.
    ///
    /// - Returns: The list; nil if another step is needed.
    public mutating func next() async throws(QueueError) -> BatchList? {
        switch place {
        case .start: try await start()
        case .names(let last, let until): try await readNames(after: last, until: until)
        case .records(let first): try await readRecords(from: first)
        }
        guard case .records(let next) = place, next >= names.count else { return nil }
        return BatchList(records: records, more: more)
    }

    /// Batches that are opened after this are left out.
    private mutating func start() async throws(QueueError) {
        let key = queue.name.keys.batches
        if part == .all, reach.isEverything {
            let replies = try await queue.sendAll([
                ["ZRANGE", key, 0, count - 1, "REV"], ["ZCARD", key],
            ])
            names = replies[0].array?.compactMap(\.string) ?? []
            more = max(0, Int(replies[1].int ?? 0) - names.count)
            place = .records(from: 0)
            return
        }
        let newest = try await queue.send("ZRANGE", key, "-1", "-1", "WITHSCORES")
        // A batch that was opened while the clock was ahead was opened in the future.
        let until = max(try await queue.now(), newest.array?.last?.int.map { Int($0) } ?? 0)
        place = .names(after: ScoredMember(name: "", score: 0), until: until)
    }

    private mutating func readNames(
        after last: ScoredMember, until: Int
    ) async throws(QueueError) {
        let keys = queue.name.keys
        let page = try await queue.members(
            of: keys.batches, after: last, until: until, count: Self.namesStep)
        guard let end = page.last else {
            more = max(0, names.count - count)
            names = names.suffix(count).reversed()
            place = .records(from: 0)
            return
        }
        let facts = try await queue.sendAll(
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
        place = .names(after: end, until: until)
    }

    private mutating func readRecords(from first: Int) async throws(QueueError) {
        let next = min(first + Self.recordsStep, names.count)
        let read = try await queue.records(ofBatches: Array(names[first..<next]))
        // One may have ended since its name was read.
        records += read.filter { part.has(ended: $0.isComplete) }
        place = .records(from: next)
    }
}
