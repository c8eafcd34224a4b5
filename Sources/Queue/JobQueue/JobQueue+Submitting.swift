public import Edits
import Redis

extension JobQueue {
    /// The reply to the submission of a job.
    public enum Submission: Sendable, Equatable {
        /// The job is accepted as this entry of the ingress stream. The entry's name is the job's id if the request has none.
        case accepted(entry: String)
        /// The same job was sent before. The value is its present state; nil if it was done so long ago that only its name is left.
        case same(JobState?)
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
        /// The job was cancelled.
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
    ///   wait for admission; `shareUsed` if all tenants together store as many bytes as producers may.
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
    /// Each job is accepted or refused independently. If one fails with `ingressFull` or `shareUsed`, the jobs before it may have been accepted.
    /// It is safe to send all jobs again if they have ids.
    public func submit(
        _ requests: [JobRequest], backlogMax: Int?, storedMax: Int? = nil
    ) async throws(QueueError) -> [Result<Submission, QueueError>] {
        precondition(requests.count <= Self.submitMax, "submit in chunks of \(Self.submitMax)")
        var scriptArguments = [
            RedisArgument(settings.reservedMax), Self.quota(storedAllMax),
        ]
        for request in requests { scriptArguments += arguments(request, backlogMax, storedMax) }
        let reply = try await run(QueueScript.submit, scriptArguments)
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
        return [
            RedisArgument(fields.count), request.scheduling.priority == .interactive ? "1" : "",
            RedisArgument(request.id?.string ?? ""),
            RedisArgument(request.scheduling.tenant?.string ?? "default"), Self.quota(backlogMax),
            Self.quota(storedMax),
        ] + fields.map { RedisArgument($0) }
    }

    /// Returns the number of jobs that count against a tenant's quota: submitted jobs that have not ended, in any state from
    /// `incoming` on. A replayed job counts again. A submitted batch counts as one job while it is open. Its members do not
    /// count, nor do jobs that arrived by a plain `XADD` or were restored from a file.
    public func backlog(of tenant: JobID) async throws(QueueError) -> Int {
        let length = try await send(["HLEN", RedisArgument(name.keys.backlog(tenant.string))])
        return Int(length.int ?? 0)
    }

    /// Returns the bytes of Redis that a tenant takes: its jobs in any state while their records are kept, its submitted entries,
    /// members and batches. `Scripts/Shared/stored.lua` states what counts.
    public func stored(by tenant: JobID) async throws(QueueError) -> Int {
        let bytes = try await send([
            "HGET", RedisArgument(name.keys.stored), RedisArgument(tenant.string),
        ])
        return bytes.string.flatMap { Int($0) } ?? 0
    }

    static func quota(_ max: Int?) -> RedisArgument { RedisArgument(max.map { "\($0)" } ?? "") }

    private func answer(
        _ row: RedisReply, _ max: Int?, _ storedMax: Int?
    ) throws(QueueError) -> Result<Submission, QueueError> {
        let parts = row.array?.compactMap(\.string) ?? []
        guard parts.count == 2 else { throw unexpected(row, of: QueueScript.submit) }
        switch (parts[0], parts[1]) {
        case ("OK", let entry): return .success(.accepted(entry: entry))
        case ("SAME", "dropped"): return .success(.same(nil))
        case ("SAME", let state): return .success(.same(JobState(rawValue: state) ?? .unknown))
        case ("CONFLICT", _): return .success(.conflict)
        case ("QUOTA", let waiting):
            return .success(.overQuota(waiting: Int(waiting) ?? 0, max: max ?? 0))
        case ("STORED", let bytes):
            return .success(.overBytes(stored: Int(bytes) ?? 0, max: storedMax ?? 0))
        case ("SHARE", let bytes): return .failure(shareUsed(Int(bytes) ?? 0))
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
        return (fields + request.scheduling.fields).flatMap { [$0.name, $0.value] }
    }
}
