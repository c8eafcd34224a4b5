public import Edits
import Redis

/// Dead jobs are kept for an operator. Redis cannot keep them without limit, so workers move the oldest ones to the library.
extension JobQueue {
    /// The maximum number of dead jobs that one step moves.
    public static let spillMax = 100

    /// The maximum number of pages that one step inspects. Dead jobs that cannot be moved may be in front of those that can.
    static let spillPagesMax = 20

    /// Returns the next dead jobs that exceed the limits of number, size or age in Redis, the oldest first; an empty array if there
    /// are none. Of those with large edits, of which few stay, they are the oldest of the tenant with most. Ids of dead jobs whose records Redis has lost are removed from the lists. Records of a later format stay, and
    /// those behind them are inspected.
    public func surplusDead() async throws(QueueError) -> [SpilledJob] {
        let keys = name.keys
        let old = try await believedTime() - settings.keepDead.milliseconds
        // The number of dead jobs in front that stay.
        var first = 0
        for page in 0..<Self.spillPagesMax {
            let last = first + Self.spillMax - 1
            let firstLarge = page * Self.spillMax
            let replies = try await sendAll([
                ["ZCARD", keys.dead], ["ZCARD", keys.largeDead],
                ["ZRANGE", keys.dead, first, last, "WITHSCORES"],
            ])
            let count = Int(replies[0].int ?? 0)
            let surplusLarge = Int(replies[1].int ?? 0) - settings.deadLargeMax - firstLarge
            var ids: [String] = []
            let oldest = replies[2].array ?? []
            for index in stride(from: 0, to: oldest.count - 1, by: 2) {
                guard let id = oldest[index].string, let died = oldest[index + 1].string else {
                    continue
                }
                let isSurplus = first + index / 2 < count - settings.deadMax
                if isSurplus || Double(died) ?? 0 < Double(old) { ids.append(id) }
            }
            if surplusLarge > 0 {
                let large = try await largeDeadOfMost(firstLarge + min(surplusLarge, Self.spillMax))
                for id in large.dropFirst(firstLarge) where !ids.contains(id) { ids.append(id) }
            }
            if ids.isEmpty { return [] }
            let jobs = try await spilled(ids)
            if !jobs.isEmpty { return jobs }
            try await removeDead(ids.map { ($0, 0) })
            let left = try await send("ZCARD", keys.dead).int ?? 0
            first += max(0, ids.count - max(0, count - Int(left)))
        }
        return []
    }

    /// The maximum number of dead jobs with large edits among which one step chooses.
    private static let largeSeenMax = 2 * 1000

    /// Returns dead jobs with large edits, each the oldest of the tenant that then has most: a tenant's pushes out none of others.
    private func largeDeadOfMost(_ count: Int) async throws(QueueError) -> [String] {
        let ids =
            try await send("ZRANGE", name.keys.largeDead, "0", Self.largeSeenMax - 1).array?
            .compactMap(\.string) ?? []
        let tenants = try await sendAll(
            ids.map { ["HGET", name.keys.job($0), "tenant"] }, skippingDamaged: true)
        var left = Dictionary(
            grouping: zip(ids, tenants), by: { $0.1.string ?? "default" }
        ).mapValues { $0.map(\.0)[...] }
        var chosen: [String] = []
        while chosen.count < count,
            let most = left.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) })?.key,
            let oldest = left[most]?.popFirst()
        { chosen.append(oldest) }
        return chosen
    }

    /// Returns dead jobs in the form that a library keeps. Jobs that are not dead, or whose record has a later format,
    /// are left out.
    func spilled(_ ids: [String]) async throws(QueueError) -> [SpilledJob] {
        let keys = name.keys
        let records = try await sendAll(
            ids.map { ["HGETALL", keys.job($0)] }, skippingDamaged: true
        ).map { $0.pairs ?? [:] }
        var jobs: [SpilledJob] = []
        for (id, fields) in zip(ids, records) {
            let parts = try await sendAll(
                [
                    ["GET", keys.edit(id)], ["GET", keys.batchEdit(fields["batch"] ?? "")],
                    ["LRANGE", keys.attempts(id), "0", "-1"],
                ], skippingDamaged: true)
            let edit = fields["malformed"] == nil ? parts[0].bytes ?? parts[1].bytes : nil
            let history = parts[2].array?.compactMap(\.string) ?? []
            let text = edit.map { String(decoding: $0, as: UTF8.self) }
            if let job = SpilledJob(id, fields, edit: text, history: history) { jobs.append(job) }
        }
        return jobs
    }

    /// Removes dead jobs that are still dead in the given generation.
    ///
    /// - Parameter place: The place that the jobs were written to; nil if they are discarded.
    /// - Returns: The number of jobs that were removed.
    @discardableResult
    public func removeDead(
        _ jobs: [(job: String, generation: Int)], writtenTo place: String? = nil
    ) async throws(QueueError) -> Int {
        let reply = try await run(
            QueueScript.removeDead, place, jobs.flatMap { [$0.job, "\($0.generation)"] })
        guard let removed = reply.int else { throw unexpected(reply, of: QueueScript.removeDead) }
        return Int(removed)
    }

    /// Returns the places to which dead jobs were moved, and the number of jobs that were moved to each; that of jobs that were put
    /// back since is not known.
    public func spillFiles() async throws(QueueError) -> [(file: String, jobs: Int)] {
        let files = try await send("HGETALL", name.keys.spilled).pairs ?? [:]
        return files.sorted { $0.key < $1.key }.map { ($0.key, Int($0.value) ?? 0) }
    }

    /// The most places that are named in a sentence.
    private static let placesNamedMax = 3

    /// Returns the places to which jobs were moved last, as text for people; nil if none ever was.
    func lastPlaces() async throws(QueueError) -> String? {
        let places = try await spillFiles().map(\.file)
        // Their names end with the month. A job's name is remembered for two days, so it is in one of the last.
        func month(_ place: String) -> Substring {
            place.split(separator: "/").last?.suffix(Self.monthSuffix) ?? ""
        }
        let last = places.sorted { (month($1), $0) < (month($0), $1) }.prefix(Self.placesNamedMax)
        return last.isEmpty ? nil : last.joined(separator: " or ")
    }

    /// The length of `2026-11.ndjson`.
    private static let monthSuffix = 14

    /// Runs a dead job again whose record was dropped, from its request, as a new generation.
    ///
    /// - Returns: As ``restore(_:)``; `unknown` if nothing is remembered of the job.
    public func restore(
        dropped id: JobID, as request: JobRequest
    ) async throws(QueueError) -> Replay {
        var generation: Int?
        for names in ["seen:new", "seen:old"] where generation == nil {
            let mark = try await send("HGET", name.keys.prefix + names, id.string).string
            // `dropped:<generation>:<digest>`, as `remove_record` writes it.
            let parts = (mark ?? "").split(separator: ":", omittingEmptySubsequences: false)
            if parts.count == 3, parts[0] == "dropped" { generation = Int(parts[1]) ?? 1 }
        }
        guard let generation else { return .unknown }
        return try await restore(
            SpilledJob(
                job: id.string, generation: generation, asset: request.asset.string,
                edit: request.edit.json.canonical,
                tenant: request.scheduling.tenant?.string ?? "default",
                priority: request.scheduling.priority?.rawValue ?? "normal", batch: nil,
                cost: request.scheduling.cost, isNamed: true, code: nil, message: nil, died: 0,
                history: [], fields: request.fields?.json))
    }

    /// Restores a dead job that was moved to the library, as a new generation.
    ///
    /// - Returns: As for several jobs.
    public func restore(_ job: SpilledJob) async throws(QueueError) -> Replay {
        try await restore([job]).first ?? .unknown
    }

    /// Restores dead jobs that were moved to the library, as new generations. Those of one batch should come together: each call
    /// opens it once more, and it completes once more.
    ///
    /// - Returns: One result per job: `replayed`; `notDead` if the job exists, because it was restored before or sent again; `conflict` if another
    ///   job has the id, or a batch that was opened since its death; `malformed` if no worker can run it (``SpilledJob/fault``).
    public func restore(_ jobs: [SpilledJob]) async throws(QueueError) -> [Replay] {
        var results: [Replay] = []
        var rest = jobs[...]
        while !rest.isEmpty {
            var bytes = 0
            let call = rest.prefix(Self.restoreMax).prefix { job in
                bytes += job.edit?.utf8.count ?? 0
                return bytes <= Self.restoreBytesMax
            }
            // One job of any size.
            let some = call.isEmpty ? rest.prefix(1) : call
            rest = rest.dropFirst(some.count)
            results += try await restoreSome(Array(some))
        }
        return results
    }

    /// The most jobs, and the most bytes of edits, of one call.
    private static let restoreMax = 100
    private static let restoreBytesMax = 2 << 20

    private func restoreSome(_ jobs: [SpilledJob]) async throws(QueueError) -> [Replay] {
        let canRun = jobs.map { $0.fault == nil }
        let runnable = zip(jobs, canRun).filter { $0.1 }.map { $0.0 }
        let reply = try await run(
            QueueScript.restore,
            runnable.flatMap { job in
                [
                    job.job, "\(job.generation)", job.asset, job.edit ?? "", job.tenant,
                    job.priority,
                    job.batch ?? "", job.cost.map { "\($0)" } ?? "", job.isNamed ? "1" : "",
                    "\(job.died)", job.fields ?? "",
                ]
            })
        guard var answers = reply.array?.map(\.string)[...], answers.count == runnable.count else {
            throw unexpected(reply, of: QueueScript.restore)
        }
        var results: [Replay] = []
        for (job, canRun) in zip(jobs, canRun) {
            guard canRun else {
                results.append(.malformed)
                continue
            }
            switch answers.popFirst().flatMap({ $0 }).map(Self.word) {
            case "OK": results.append(.replayed)
            case "THERE": results.append(.notDead)
            case "OTHER": results.append(.conflict)
            case "ERROR": results.append(.damaged)
            // The worker crashed after it wrote the job down and before it dropped it from Redis.
            case "DEAD": results.append(try await replay([job.job]).first ?? .unknown)
            default: throw unexpected(reply, of: QueueScript.restore)
            }
        }
        return results
    }

    /// Returns the causes of death. They are counted as jobs die, are replayed or are dropped, so the cost does not depend on
    /// the number of jobs. They are those of the whole queue, for operators.
    public func deadGroups() async throws(QueueError) -> DeadGroups {
        let fields =
            try await send("HGETALL", name.keys.deadGroups).pairs ?? [:]
        let others = fields["other"].flatMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        return DeadGroups(
            groups: fields.compactMap { DeadGroup($0.key, $0.value) }, others: others ?? 0)
    }
}

/// A dead job as a library keeps it: one line of JSON with all that is needed to explain its death and to restore it.
public struct SpilledJob: Sendable, Codable, Equatable {
    public let job: String
    /// The number of replays of the job, plus one.
    public let generation: Int
    public let asset: String
    /// The edit as the producer sent it, its own or its batch's. Nil if the request was malformed and never had one.
    public let edit: String?
    public let tenant: String
    /// The priority of the job before it was put into quarantine.
    public let priority: String
    public let batch: String?
    /// The cost that the producer stated, in milliseconds of one slot.
    public let cost: Int?
    /// Whether the producer chose the id of the job.
    public let isNamed: Bool
    /// The reason of its death, for programs.
    public let code: String?
    /// The reason of its death, for people.
    public let message: String?
    /// The time of its death, ms since 1970.
    public let died: Int
    /// The failures of its attempts, the newest first, each a line of JSON.
    public let history: [String]
    /// The values of its asset for placeholders, as the producer sent them; nil for none.
    public var fields: String?
    /// The format of the line; nil from the first releases.
    public var format: Int? = SpilledJob.formatKnown

    /// The latest format of a line that this version of minilab reads, and the one that it writes.
    public static let formatKnown = 1

    /// The maximum length of a line. An edit may need six bytes for each of its own.
    public static let lineBytesMax = 512 << 10

    /// The name of a line. A job dies once in each generation, so a second line with the same name is a repeat.
    public struct Name: Hashable, Sendable {
        let job: String
        let generation: Int
    }

    /// The name of this line.
    public var name: Name { Name(job: job, generation: generation) }

    /// Why no worker can run the job; nil if one can. Anybody may have written a line of a file, and a job of it that is restored would
    /// only die again, or wait at a priority that nobody serves.
    public var fault: Failure? {
        do throws(Failure) {
            try check()
            return nil
        } catch {
            return error
        }
    }

    private func check() throws(Failure) {
        guard edit != nil else {
            throw Failure(.missingField, "it never had an edit: there is nothing to run.")
        }
        if let colon = job.lastIndex(of: ":"), UInt64(job[job.index(after: colon)...]) != nil {
            _ = try BatchID(String(job[..<colon]))
        } else {
            _ = try JobID(ofJob: job)
        }
        _ = try AssetPath(asset)
        _ = try JobID(tenant)
        if let batch { _ = try BatchID(batch) }
        guard Priority(rawValue: priority) != nil else {
            throw Failure(
                .invalidValue,
                "priority is \(priority.debugDescription.printable); expected one of "
                    + "\(Priority.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        guard Self.generations.contains(generation) else {
            throw Failure(
                .invalidValue,
                "generation is \(generation); expected one from \(Self.generations.lowerBound) on.")
        }
    }

    /// Lua counts exactly up to 2^53.
    private static let generations = 1..<1 << 53
}

extension SpilledJob {
    /// Decodes the hash of a job. Returns nil if the job is not dead.
    init?(_ job: String, _ fields: [String: String], edit: String?, history: [String]) {
        func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
        guard fields["state"] == "dead", number("format") ?? 1 <= JobRecord.formatKnown else {
            return nil
        }
        self.init(
            job: job, generation: number("generation") ?? 1, asset: fields["asset"] ?? "",
            edit: edit, tenant: fields["tenant"] ?? "default",
            priority: fields["was"] ?? fields["priority"] ?? "normal", batch: fields["batch"],
            cost: number("cost"), isNamed: fields["named"] != nil, code: fields["code"],
            message: fields["message"], died: number("ended") ?? 0, history: history,
            fields: fields["fields"])
    }
}
