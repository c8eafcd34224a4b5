public import Edits
import Redis

extension JobQueue {
    /// Appends a job to the ingress stream of its priority, as any producer would: one plain `XADD`.
    ///
    /// - Returns: The entry's name, which is the job's id if the request has none.
    public func enqueue(_ request: JobRequest) async throws(QueueError) -> String {
        let fields = Self.entryFields(request)
        guard request.scheduling.priority == .interactive else {
            return try await append(fields, to: name.keys.ingress)
        }
        return try await append(fields, to: name.keys.urgentIngress) + QueueName.urgentSuffix
    }

    public struct Admission: Sendable, Equatable {
        /// The number of entries that became jobs, of ingress streams and batches, plus the number of promoted delayed jobs.
        public let admitted: Int
        /// Whether entries were left because enough jobs wait for workers. Urgent entries are admitted nevertheless.
        public let isHeld: Bool
        /// The time after which there may be work that no stream announces; nil if no such work is known.
        public let next: Duration?
        /// Whether another call may find work at once that no stream announces: jobs were admitted or promoted, and more of them may be
        /// due, batch streams may have more entries, or room for entries that were left may have come. Entries that are left in an
        /// ingress stream for any other reason are no such work: the wait for entries ends at once.
        public let mayHaveMore: Bool
        /// A sentence for each batch stream that cannot be fed because the batch's data in Redis is damaged.
        public internal(set) var problems: [String] = []
    }

    /// Turns the oldest entries of the ingress streams and the next entries of batches' streams into jobs, and makes delayed jobs
    /// that are due ready.
    public func admit() async throws(QueueError) -> Admission {
        try await admit(atMost: settings.admitMax, QueueScript.admit, QueueScript.feed)
    }

    /// Admits some entries while Redis is full: what fills it may be the entries themselves, and then no other job would ever end.
    ///
    /// At most ``QueueSettings/waitingMaxWhileFull`` jobs wait then. Redis goes beyond its `maxmemory` by their records, and by those of
    /// done jobs and events, which have bounds of their own; nothing comes in from outside meanwhile.
    ///
    /// - Returns: nil if enough jobs wait.
    public func admitWhileFull() async throws(QueueError) -> Admission? {
        let jobs = try await census().jobs
        let waiting = [JobState.ready, .parked, .delayed].reduce(0) { $0 + (jobs[$1] ?? 0) }
        let room = min(settings.waitingMaxWhileFull - waiting, settings.admitMax)
        guard room > 0 else { return nil }
        return try await admit(
            atMost: room, QueueScript.admitWhileFull, QueueScript.feedWhileFull)
    }

    private func admit(
        atMost entriesMax: Int, _ admitting: RedisScript, _ feeding: RedisScript
    ) async throws(QueueError) -> Admission {
        let reply = try await run(
            admitting, entriesMax, settings.admitBytesMax, Self.contract,
            settings.malformedMax, settings.aheadMax, settings.aheadBytesMax, pace,
            settings.retry.cap)
        guard let answers = reply.array, answers.count == 4, let admitted = answers[0].int,
            let isFeedDue = answers[1].int, let held = answers[2].string, let next = answers[3].int
        else { throw unexpected(reply, of: admitting) }
        let promoted = next == 0 ? try await promote() : 0
        let fed = isFeedDue == 1 ? try await feed(atMost: entriesMax, by: feeding) : Fed()
        let all = Int(admitted) + promoted + fed.jobs
        return Admission(
            admitted: all, isHeld: held == "1", next: next > 0 ? .milliseconds(next) : nil,
            // `next` and what the streams announce are of the time before `promote` and `feed`.
            mayHaveMore: all > 0 && (next == 0 || isFeedDue == 1 || held == "1"),
            problems: fed.problems)
    }

    /// Makes delayed jobs that are due ready.
    ///
    /// - Returns: The number of promoted jobs. If it is a multiple of ``QueueSettings/promotionsMax``, more jobs may be due.
    public func promote() async throws(QueueError) -> Int {
        var promoted = 0
        for _ in 0..<settings.promotesMax {
            let reply = try await run(
                QueueScript.promote, settings.promotionsMax, settings.retry.cap)
            guard let answers = reply.array, answers.count == 2, let more = answers[0].int,
                let putOff = answers[1].int
            else { throw unexpected(reply, of: QueueScript.promote) }
            promoted += Int(more)
            if Int(more + putOff) < settings.promotionsMax { break }
        }
        return promoted
    }

    public struct Fed: Sendable, Equatable {
        /// The number of jobs that were created.
        public var jobs = 0
        /// A sentence for each batch stream that cannot be fed.
        public var problems: [String] = []
    }

    /// Turns the next entries of batches' streams into jobs, as far as their windows allow, until jobs were created or each batch
    /// has had its turn.
    public func feed() async throws(QueueError) -> Fed {
        try await feed(atMost: settings.admitMax, by: QueueScript.feed)
    }

    private func feed(
        atMost entriesMax: Int, by script: RedisScript
    ) async throws(QueueError) -> Fed {
        var fed = Fed()
        for _ in 0..<settings.feedsMax {
            let reply = try await run(
                script, entriesMax, settings.window, Self.contract,
                settings.batchStreamsMax, settings.admitBytesMax, settings.malformedMax,
                settings.checksMax, pace)
            guard let answers = reply.array, answers.count >= 2, let made = answers[0].int,
                let again = answers[1].int
            else { throw unexpected(reply, of: script) }
            fed.jobs += Int(made)
            fed.problems += answers.dropFirst(2).compactMap(\.string)
            if made > 0 || again == 0 { break }
        }
        return fed
    }

    private var pace: Int { settings.checkPace.microseconds }

    private static let contract = [
        ContractLimits.assetBytesMax, ContractLimits.editBytesMax,
        ContractLimits.jobIDLengthMax, ContractLimits.batchJobsMax, ContractLimits.costMax,
    ]

    func append(
        _ fields: [(name: String, value: String)], to stream: String
    ) async throws(QueueError) -> String {
        try await append(fields.flatMap { [$0.name, $0.value] }, to: stream)
    }

    private func append(_ fields: [String], to stream: String) async throws(QueueError) -> String {
        let reply = try await send("XADD", stream, "*", fields)
        guard let entry = reply.string else {
            throw QueueError(.unexpectedReply, "XADD to \(stream) did not answer an id.")
        }
        return entry
    }

    public enum Submission: Sendable, Equatable {
        /// The job is accepted as this entry of the ingress stream. The entry's name is the job's id if the request has none.
        case accepted(entry: String)
        /// The same job was sent before, and has this state now.
        case same(JobState)
        /// The id belongs to a job with another asset or edit.
        case conflict
        /// The same job was sent before and ended in a way that does not allow another run.
        case notAgain(Ending)
        /// The tenant has this many jobs that have not ended, and its quota allows no more.
        case overQuota(waiting: Int, max: Int)
        /// The tenant stores this many bytes, and its quota allows no more.
        case overBytes(stored: Int, max: Int)
    }

    /// The end of a job that is not run again when a producer sends it again.
    public enum Ending: String, Sendable {
        /// The job failed; it can be replayed.
        case dead
        case cancelled
        /// The job failed, and its record was dropped.
        case dropped
    }

    /// The maximum number of jobs of one call of ``submit(_:backlogMax:)``.
    public static let submitMax = 200

    /// Submits a job and returns the result at once. ``enqueue(_:)`` reports it by a later event.
    ///
    /// From then on the job is found by its id, as `incoming` until a worker admits it. The id is reserved: another job that is
    /// sent under it by a plain `XADD` before the admission is a conflict.
    ///
    /// Jobs that several tasks submit at about the same time share one call.
    ///
    /// - Parameter backlogMax: The maximum number of jobs of the tenant that have not ended; nil for no limit. See
    ///   ``backlog(of:)`` for the jobs that count. A repeated job is answered as a repeat even at the limit.
    /// - Parameter storedMax: The maximum number of bytes of Redis that the tenant takes, see ``stored(by:)``; nil for no limit.
    /// - Throws: An error with ``QueueError/isRedisFull`` if Redis accepts no new data; `ingressFull` if too many submitted jobs
    ///   wait for admission; `ingressClosed` if a producer has closed the job's ingress stream; `shareUsed` if all tenants together
    ///   store as many bytes as producers may; `damagedRecord` if what Redis has of the job's id or tenant is damaged.
    public func submit(
        _ request: JobRequest, backlogMax: Int?, storedMax: Int? = nil
    ) async throws(QueueError) -> Submission {
        try answer(
            try await submits.write(arguments(request, backlogMax, storedMax)), backlogMax,
            storedMax
        ).get()
    }

    /// Submits several jobs, at most ``submitMax``, in their order, and returns one result for each.
    ///
    /// Each job is accepted or refused independently, also of jobs of other tenants that share the call.
    /// It is safe to send all jobs again if they have ids.
    public func submit(
        _ requests: [JobRequest], backlogMax: Int?, storedMax: Int? = nil
    ) async throws(QueueError) -> [Result<Submission, QueueError>] {
        precondition(requests.count <= Self.submitMax, "submit in chunks of \(Self.submitMax)")
        let reply = try await run(
            QueueScript.submit, settings.reservedMax, storedAllMax,
            requests.flatMap { arguments($0, backlogMax, storedMax) })
        guard let rows = reply.array, rows.count == requests.count else {
            throw unexpected(reply, of: QueueScript.submit)
        }
        var answers: [Result<Submission, QueueError>] = []
        for row in rows { answers.append(try answer(row, backlogMax, storedMax)) }
        return answers
    }

    private func arguments(
        _ request: JobRequest, _ backlogMax: Int?, _ storedMax: Int?
    ) -> [RedisArgument] {
        let fields = Self.entryFields(request)
        return RedisArgument.list([
            fields.count, request.scheduling.priority == .interactive, request.id?.string,
            request.scheduling.tenant?.string ?? "default", backlogMax, storedMax, fields,
        ])
    }

    /// Returns the number of jobs that count against a tenant's quota: submitted jobs that have not ended, in any state from
    /// `incoming` on. A replayed job counts again. A submitted batch counts as one job while it is open. Its members do not
    /// count, nor do jobs that arrived by a plain `XADD` or were restored from a file.
    public func backlog(of tenant: JobID) async throws(QueueError) -> Int {
        let length = try await send("HLEN", name.keys.backlog(tenant.string))
        return Int(length.int ?? 0)
    }

    /// Returns the bytes of Redis that a tenant takes: its jobs in any state while their records are kept, its submitted entries,
    /// members and batches. `Scripts/Shared/records.lua` states what counts.
    public func stored(by tenant: JobID) async throws(QueueError) -> Int {
        let bytes = try await send("HGET", name.keys.stored, tenant.string)
        return bytes.string.flatMap { Int($0) } ?? 0
    }

    private func answer(
        _ row: RedisReply, _ max: Int?, _ storedMax: Int?
    ) throws(QueueError) -> Result<Submission, QueueError> {
        let parts = row.array?.compactMap(\.string) ?? []
        guard parts.count == 2 else { throw unexpected(row, of: QueueScript.submit) }
        switch (parts[0], parts[1]) {
        case ("OK", let entry): return .success(.accepted(entry: entry))
        case ("SAME", let state): return .success(.same(JobState(rawValue: state) ?? .unknown))
        case ("CONFLICT", _): return .success(.conflict)
        case ("QUOTA", let waiting):
            return .success(.overQuota(waiting: Int(waiting) ?? 0, max: max ?? 0))
        case ("STORED", let bytes):
            return .success(.overBytes(stored: Int(bytes) ?? 0, max: storedMax ?? 0))
        case ("SHARE", let bytes): return .failure(shareUsed(Int(bytes) ?? 0))
        case ("CLOSED", let entries):
            return .failure(
                QueueError(
                    .ingressClosed,
                    "queue \(name) accepts no such job now: a producer sent XADD with the highest id that there is, and Redis adds "
                        + "nothing to that ingress stream until a worker has admitted what is in it (\(entries) entries). Send the "
                        + "job again; if that does not help, no worker runs."))
        case ("ERROR", let reason):
            return .failure(
                QueueError(
                    .damagedRecord,
                    "a job was not accepted, because what Redis has of its id or of its tenant is damaged (\(reason)). Other jobs are "
                        + "not concerned. `minilab doctor` says more."))
        case ("FULL", _):
            return .failure(
                QueueError(
                    .ingressFull,
                    "queue \(name) has \(settings.reservedMax) submitted jobs that are not admitted yet, and "
                        + "accepts no "
                        + "more. Does a worker run?"))
        case ("ENDED", let ending):
            if let ending = Ending(rawValue: ending) { return .success(.notAgain(ending)) }
            throw unexpected(row, of: QueueScript.submit)
        default: throw unexpected(row, of: QueueScript.submit)
        }
    }

    /// The error of a call that would store more than all tenants together may.
    func shareUsed(_ bytes: Int) -> QueueError {
        QueueError(
            .shareUsed,
            "the jobs of queue \(name) take \(bytes) bytes of Redis, and producers may use \(storedAllMax ?? 0). "
                + "The rest is for ending jobs and for operators. Send it again when jobs have ended, or give Redis more "
                + "memory (maxmemory).")
    }

    /// Returns the fields of an entry of the ingress stream, asset and edit first.
    static func entryFields(_ request: JobRequest) -> [String] {
        var fields = [
            (name: "asset", value: request.asset.string),
            (name: "edit", value: request.edit.json.canonical),
        ]
        if let id = request.id { fields.append((name: "id", value: id.string)) }
        if let values = request.fields { fields.append((name: "fields", value: values.json)) }
        return (fields + request.scheduling.fields).flatMap { [$0.name, $0.value] }
    }
}
