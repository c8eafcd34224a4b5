public import Adjustments
import Redis

extension JobQueue {
    /// The answer to a job that was submitted.
    public enum Submission: Sendable, Equatable {
        /// It is taken, as this entry of the ingress stream; the entry's name is the job's id when the request has none.
        case accepted(entry: String)
        /// The same job was sent before: its state now; nil when it was done so long ago that only its name is left.
        case same(JobState?)
        /// The id is that of a job with another asset or edit.
        case conflict
        /// The same job was sent before, and ended so that it is not run again.
        case notAgain(Ending)
        /// So many of the tenant's jobs have not ended, and no more are allowed.
        case overQuota(waiting: Int, max: Int)
    }

    /// How a job ended that is not run again when it is sent again.
    public enum Ending: String, Sendable {
        /// It failed; it can be replayed.
        case dead
        /// Somebody cancelled it.
        case cancelled
        /// It failed, and its record was dropped.
        case dropped
    }

    /// Most jobs of one call of ``submit(_:backlogMax:)``.
    public static let submitMax = 200

    /// Puts a job in and answers what became of it: what ``enqueue(_:)`` says by an event later, this says at once.
    ///
    /// From then on the job is found by its id, as `incoming` until a worker takes it in. Its id is its own: what others
    /// send under it by a plain `XADD` before it is taken in is a conflict of theirs.
    ///
    /// Jobs that several tasks submit at about the same time go in one call.
    ///
    /// - Parameter backlogMax: how many jobs of the tenant may be there that have not ended; nil: any number. See
    ///   ``backlog(of:)`` for what counts. A job that was sent before is answered as such whatever waits.
    /// - Throws: an error that ``QueueError/isRedisFull`` when Redis takes nothing new in; `ingressFull` when too much is
    ///   submitted that nobody takes in.
    public func submit(
        _ request: JobRequest, backlogMax: Int?
    ) async throws(QueueError) -> Submission {
        try answer(try await submits.write(arguments(request, backlogMax)), backlogMax).get()
    }

    /// The same for several jobs, at most ``submitMax``, in their order; one answer for each.
    ///
    /// Each is taken or not by itself. With an error for one, `ingressFull`, those before it may have been taken; to send
    /// all again is safe for jobs that have ids.
    public func submit(
        _ requests: [JobRequest], backlogMax: Int?
    ) async throws(QueueError) -> [Result<Submission, QueueError>] {
        precondition(requests.count <= Self.submitMax, "submit in chunks of \(Self.submitMax)")
        var words = [RedisArgument(settings.reservedMax)]
        for request in requests { words += arguments(request, backlogMax) }
        let reply = try await run(QueueScript.submit, words)
        guard let rows = reply.array, rows.count == requests.count else {
            throw unexpected(reply, of: QueueScript.submit)
        }
        var answers: [Result<Submission, QueueError>] = []
        for row in rows { answers.append(try answer(row, backlogMax)) }
        return answers
    }

    private func arguments(_ request: JobRequest, _ backlogMax: Int?) -> [RedisArgument] {
        let words = Self.words(request)
        return [
            RedisArgument(words.count), request.scheduling.priority == .interactive ? "1" : "",
            RedisArgument(request.id?.string ?? ""),
            RedisArgument(request.scheduling.tenant?.string ?? "default"), Self.quota(backlogMax),
        ] + words.map { RedisArgument($0) }
    }

    /// How many jobs of a tenant count against its quota: those that were submitted and have not ended, in whichever
    /// state, from `incoming` on. A job that is replayed counts again. Of batches that were submitted each counts as one
    /// as long as it is open; its members do not, nor does what came by a plain `XADD` or back from a file.
    public func backlog(of tenant: JobID) async throws(QueueError) -> Int {
        let length = try await send(["HLEN", RedisArgument(name.keys.backlog(tenant.string))])
        return Int(length.int ?? 0)
    }

    static func quota(_ max: Int?) -> RedisArgument { RedisArgument(max.map { "\($0)" } ?? "") }

    private func answer(
        _ row: RedisReply, _ max: Int?
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
        case ("FULL", _):
            return .failure(
                QueueError(
                    .ingressFull,
                    "queue \(name) has \(settings.reservedMax) submitted jobs that are not taken in yet, and takes no "
                        + "more. Does a worker run?"))
        case ("ENDED", let ending):
            if let ending = Ending(rawValue: ending) { return .success(.notAgain(ending)) }
            throw unexpected(row, of: QueueScript.submit)
        default: throw unexpected(row, of: QueueScript.submit)
        }
    }

    /// The fields of an entry of the ingress stream, asset and edit first.
    static func words(_ request: JobRequest) -> [String] {
        var fields = [
            (name: "asset", value: request.asset.string),
            (name: "edit", value: request.edit.json.canonical),
        ]
        if let id = request.id { fields.append((name: "id", value: id.string)) }
        return (fields + request.scheduling.fields).flatMap { [$0.name, $0.value] }
    }
}
