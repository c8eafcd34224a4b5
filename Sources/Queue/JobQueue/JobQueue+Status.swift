public import Edits
import FoundationEssentials
import Redis

extension JobQueue {
    /// Counts the jobs, at one moment as far as ``census()`` does.
    public func status() async throws(QueueError) -> QueueStatus {
        let keys = name.keys
        let census = try await census()
        let counters = try await send("HGETALL", keys.counters).pairs ?? [:]
        let leased = try await send("ZRANGE", keys.lease, "0", QueueStatus.heldMax - 1)
        // A part of a job is held like a job, but it is none to readers: no id of a producer contains `+`.
        let held = try await records(
            of: leased.array?.compactMap(\.string).filter { !$0.contains("+") } ?? [])
        let stuckIDs = try await send("ZRANGE", keys.stuck, "0", QueueStatus.heldMax - 1)
        let stuckJobs = try await records(of: stuckIDs.array?.compactMap(\.string) ?? [])
        let paused = try await send("HGET", keys.config, "paused").string
        let fleet = try await fleet()
        return QueueStatus(
            jobs: census.jobs, paused: paused, ingressHold: try await ingressHold(),
            flows: census.flows, counters: counters.compactMapValues { Int($0) }, held: held,
            stuckJobs: stuckJobs, workers: fleet.living, silentWorkers: fleet.silent,
            overdue: try await overdue())
    }

    /// Returns those of some ids that the queue knows as jobs, sent ones among them.
    package func known(_ ids: [String]) async throws(QueueError) -> [String] {
        let replies = try await sendAll(
            ids.flatMap { id in
                [["EXISTS", name.keys.job(id)], ["HEXISTS", name.keys.reserved, id]]
            })
        return ids.enumerated().filter { number, _ in
            replies[2 * number].int == 1 || replies[2 * number + 1].int == 1
        }.map(\.element)
    }

    /// Returns the record of a job; nil if there is none or it was dropped. For a submitted job that is not admitted yet, the
    /// record comes from its entry.
    public func record(of job: String) async throws(QueueError) -> JobRecord? {
        // A reservation is removed when the record is created, so it is read first.
        let replies = try await sendAll([
            ["HGET", name.keys.reserved, job], ["HGETALL", name.keys.job(job)],
        ])
        if let record = JobRecord(job, replies[1].pairs ?? [:]) { return record }
        // The reservation of a job that was cancelled meanwhile begins with `-`; such a job had a record.
        guard let reservation = replies[0].string, !reservation.hasPrefix("-"),
            let record = try await incomingRecord(of: job, reservation)
        else { return nil }
        return record
    }

    /// - Parameter reservation: `<entry> <tenant>`, as defined in `Scripts/Shared/admission.lua`.
    private func incomingRecord(
        of job: String, _ reservation: String
    ) async throws(QueueError) -> JobRecord? {
        let entry = reservation.prefix { $0 != " " }
        let isUrgent = entry.hasSuffix(QueueName.urgentSuffix)
        let id = isUrgent ? entry.dropLast(QueueName.urgentSuffix.count) : entry
        guard let sent = id.split(separator: "-").first.flatMap({ Int($0) }) else { return nil }
        let stream = isUrgent ? name.keys.urgentIngress : name.keys.ingress
        let found = try await send("XRANGE", stream, String(id), String(id))
        guard var fields = found.array?.first?.array?.last?.pairs else {
            // The entry was admitted meanwhile, or dropped unread.
            return try await records(of: [job]).first
        }
        fields["state"] = JobState.incoming.rawValue
        fields["enqueued"] = "\(sent)"
        if isUrgent, fields["priority"] == nil { fields["priority"] = "interactive" }
        return JobRecord(job, fields)
    }

    /// Returns the outcome of a done job; nil if the job is not done or its record was dropped.
    public func outcome(of job: String) async throws(QueueError) -> JobOutcome? {
        guard
            let outcome = try await send("HGET", name.keys.job(job), "outcome")
                .string,
            let bytes = try await send("GET", name.keys.result(job)).bytes
        else { return nil }
        do {
            return try JobOutcome(outcome, json: Data(bytes))
        } catch {
            throw QueueError(
                .unexpectedReply, "the result of job \(job) cannot be read: \(error.decodingReason)"
            )
        }
    }

    /// Returns the failures of earlier attempts of a job, the newest first; at most 20 are kept. In place of one that cannot be read there
    /// is what can be read of it.
    public func attempts(of job: String) async throws(QueueError) -> [Attempt] {
        let rows = try await send("LRANGE", name.keys.attempts(job), "0", "-1")
        var attempts: [Attempt] = []
        for row in rows.array ?? [] {
            guard let bytes = row.bytes else { continue }
            do {
                attempts.append(try JSONDecoder().decode(Attempt.self, from: Data(bytes)))
            } catch {
                attempts.append(Attempt(unreadable: bytes, because: error.decodingReason))
            }
        }
        return attempts
    }

    /// Returns dead jobs in the order of their deaths.
    ///
    /// - Parameters:
    ///   - offset: The number of jobs to skip.
    ///   - count: The maximum number of jobs to return.
    public func dead(offset: Int, count: Int) async throws(QueueError) -> [JobRecord] {
        let ids = try await send("ZRANGE", name.keys.dead, offset, offset + count - 1)
        return try await records(of: ids.array?.compactMap(\.string) ?? [])
    }

    /// Returns done jobs, the last ended one first.
    ///
    /// - Parameter count: The maximum number of jobs to return.
    public func done(count: Int) async throws(QueueError) -> [JobRecord] {
        let ids = try await send("LRANGE", name.keys.done, -count, "-1")
        return try await records(of: (ids.array?.compactMap(\.string) ?? []).reversed())
    }
}

extension JobRecord {
    /// Decodes the hash of a job; nil if the hash is not a job.
    init?(_ job: String, _ fields: [String: String]) {
        guard let state = fields["state"] else { return nil }
        func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
        self.init(
            job: job, format: number("format") ?? 1, state: JobState(rawValue: state) ?? .unknown,
            asset: fields["asset"] ?? "",
            tenant: fields["tenant"] ?? "default", priority: fields["priority"] ?? "normal",
            batch: fields["batch"], generation: number("generation") ?? 1,
            attempts: number("attempts") ?? 0,
            crashes: number("crashes") ?? 0, worker: fields["worker"],
            enqueued: number("enqueued") ?? 0, claimed: number("claimed"), ended: number("ended"),
            code: fields["code"].flatMap(FailureCode.init), message: fields["message"],
            fence: fields["fence"], version: fields["version"],
            outcome: fields["outcome"], stage: fields["stage"],
            progress: number("frames").map {
                JobProgress(framesDone: number("framesDone") ?? 0, frames: $0)
            },
            group: fields["group"].flatMap {
                $0.split(separator: " ", maxSplits: 1).last.map(String.init)
            },
            cancel: fields["cancel"])
    }
}

extension RedisReply {
    /// The flat reply of `HGETALL` as fields and values; nil if the reply has another form. What is not UTF-8 in a name is replaced, as in
    /// a value: one such name must not take all others away.
    package var pairs: [String: String]? {
        guard let items = array else { return nil }
        var pairs: [String: String] = [:]
        for index in stride(from: 0, to: items.count - 1, by: 2) {
            guard let name = items[index].bytes, let value = items[index + 1].bytes else {
                return nil
            }
            pairs[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
        }
        return pairs
    }
}
