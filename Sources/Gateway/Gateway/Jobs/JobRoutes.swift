import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import JobQueue
import Operations
import Telemetry
import Tracing

/// The routes of jobs. A job is one edit of one asset.
enum JobRoutes {
    static let routes: [Route] = [
        Route(
            .post, "/v1/jobs", .key(.enqueue), name: "submitJob", group: "jobs",
            "Enqueues a job. The same job sent again is recognised, and runs once.",
            parameters: [
                .header(
                    .idempotencyKey, "Names the job when the body has no id.",
                    schema: .text(1...255)),
                .header(
                    .prefer, "wait=5 answers when the job has ended, after so many seconds at most."
                ),
                .header(
                    .traceparent,
                    "The trace that the job is a part of, unless its own traceparent says otherwise (W3C Trace Context). "
                        + "One that is not valid is passed over."),
            ], body: .json(.schema("Job")),
            answers: [
                .init(
                    .accepted, "The job was accepted.", .schema("JobTaken"),
                    headers: ["Location", "Retry-After"]),
                .init(
                    .ok, "It was sent before, or ended within the time to wait.",
                    .schema("JobTaken")),
            ], problems: [.conflict, .notFound], handle: submit),
        Route(
            .get, "/v1/jobs/{id}", .key(.read), name: "readJob", group: "jobs",
            "The state of a job, and its reason.",
            parameters: [
                .path("id", "The job."),
                .header(
                    .prefer, "wait=5 answers when the job has ended, after so many seconds at most."
                ),
            ],
            answers: [.init(.ok, "The job.", .schema("JobView"))], problems: [.gone], handle: read),
        Route(
            .post, "/v1/jobs/{id}/cancel", .key(.enqueue), name: "cancelJob", group: "jobs",
            "Cancels a job.",
            parameters: [.path("id", "The job.")], body: .optionalJSON(.schema("Reason")),
            answers: [
                .init(
                    .ok, "The job was cancelled. Its asset stays as it is.",
                    .schema("JobCancelled"))
            ],
            problems: [.conflict], handle: cancel),
    ]

    private static func submit(_ call: Call) async throws -> Response {
        let sent = try await SentJob(call)
        let wait = try WaitPreference(call)
        let position = call.parts.events.hub.newest
        let submission = try await send(sent.request, call, conflict: sent.conflict)
        let job = submission.job
        if let wait, let position, submission.state.isOpen {
            var hasEnded = try await wait.untilEnded(job, after: position, call)
            // The record knows an end whose event did not come, as when Redis was away meanwhile.
            if !hasEnded { hasEnded = try await JobView.find(job, call).hasEnded }
            if hasEnded {
                return try await JobView.response(of: job, call, applied: wait)
            }
        }
        let body = JSONValue.object([
            "job": .string(job), "state": .string(submission.state.rawValue),
        ])
        guard submission.isNew else {
            return .json(body, headers: [.location: "/v1/jobs/\(job)"])
        }
        return .json(
            body, status: .accepted,
            headers: [.location: "/v1/jobs/\(job)", .retryAfter: "\(Problem.retrySeconds)"])
    }

    /// The result of a submission: a job that the queue has accepted.
    struct Submission {
        let job: String
        /// Whether the job is new to the queue.
        let isNew: Bool
        let state: JobState
    }

    /// Submits a job to the queue.
    ///
    /// - Throws: the problem `conflict` if another job has its name, or if the job has failed or was cancelled;
    ///   `backlogFull`, `storedFull`.
    static func send(
        _ request: JobRequest, _ call: Call, conflict: Problem
    ) async throws -> Submission {
        let backlogMax = try call.key.quotas.backlogMax ?? call.parts.settings.backlogMax
        let answer = try await submit(
            request, call.parts.queue, backlogMax, storedMax: call.storedMax,
            call.parts.limits.traceWishes, of: call.key.id)
        let name = request.id?.string
        switch answer {
        case .accepted(let entry):
            return Submission(job: name ?? entry, isNew: true, state: .incoming)
        case .same(let state): return Submission(job: name ?? "", isNew: false, state: state)
        case .conflict: throw conflict
        case .notAgain(let ending): throw notAgain(name ?? "", ending)
        case .overQuota(let waiting, let most):
            throw Problem(
                .backlogFull,
                "\(waiting) jobs of this tenant have not ended, and \(most) are allowed. Send it again when some have.",
                facts: ["waiting": .number(Double(waiting)), "max": .number(Double(most))],
                retryAfter: 10)
        case .overBytes(let stored, let most): throw Problem.storedFull(stored, most)
        }
    }

    /// Submits a job as a part of the trace that it names, or else of its request's.
    private static func submit(
        _ request: JobRequest, _ queue: JobQueue, _ backlogMax: Int, storedMax: Int?,
        _ wishes: TraceWishes, of keyID: String
    ) async throws(QueueError) -> JobQueue.Submission {
        let context = request.scheduling.traceparent.map {
            wishes.context(following: $0, of: keyID)
        }
        let attributes: SpanAttributes = [
            "messaging.system": "redis", "messaging.operation.type": "send",
            "messaging.operation.name": "submit",
            "messaging.destination.name": .string("\(queue.name)"),
        ]
        return try await inSpan("submit \(queue.name)", .producer, in: context, with: attributes) {
            span throws(QueueError) in
            var scheduling = request.scheduling
            scheduling.traceparent = ServiceContext.current?.traceparent
            let sent = JobRequest(
                id: request.id, asset: request.asset, edit: request.edit, fields: request.fields,
                scheduling: scheduling)
            if let id = sent.id { span.attributes["messaging.message.id"] = id.string }
            return try await queue.submit(sent, backlogMax: backlogMax, storedMax: storedMax)
        }
    }

    private static func notAgain(_ job: String, _ ending: JobQueue.Ending) -> Problem {
        let reason =
            switch ending {
            case .dead: "has failed. Have it replayed, or send it with a new id."
            case .cancelled: "was cancelled. Send it with a new id."
            case .dropped: "has failed, and its record was dropped. Send it with a new id."
            }
        return Problem(.conflict, "Job \(job) \(reason)", facts: ["job": .string(job)])
    }

    private static func read(_ call: Call) async throws -> Response {
        let job = try call.key.stored(inPath: call.parameter("id"))
        guard let wait = try WaitPreference(call), let position = call.parts.events.hub.newest
        else {
            return try await JobView.response(of: job, call)
        }
        // Checks first that the job is the caller's, and whether it has ended already.
        let view = try await JobView.find(job, call)
        if !view.hasEnded {
            _ = try await wait.untilEnded(job, after: position, call)
        }
        return try await JobView.response(of: job, call, applied: wait)
    }

    private static func cancel(_ call: Call) async throws -> Response {
        let job = try call.key.stored(inPath: call.parameter("id"))
        _ = try await JobView.find(job, call)
        let reason = try ReasonBody(
            try await call.optionalJSON(), usual: "cancelled by its producer"
        ).reason
        let answer = try await end(job, reason: reason, call)
        return .json(
            .object([
                "job": .string(job),
                "answer": .string(answer == .notified ? "stopping" : "cancelled"),
            ]))
    }

    /// Cancels a job. The caller checks before that it may.
    ///
    /// - Returns: `cancelled` or `told`.
    /// - Throws: `tooLate`, `notFound`.
    static func end(
        _ job: String, reason: String, _ call: Call
    ) async throws -> JobQueue.Cancellation {
        guard let answer = try await call.parts.queue.cancel([job], reason: reason).first else {
            throw JobView.unknown(job)
        }
        switch answer {
        case .cancelled, .notified: return answer
        case .publishing:
            throw Problem(
                .tooLate, "Job \(job) is being published; it cannot be cancelled any more.")
        case .ended: throw Problem(.tooLate, "Job \(job) had ended already.")
        case .damaged:
            throw Problem(
                .internalError, "What the queue has of job \(job) is damaged; it was not cancelled."
            )
        case .unknown, .later: throw JobView.unknown(job)
        }
    }
}

extension JobEvent {
    /// Returns whether the event states that a job has finished, failed or become stuck.
    func ends(_ job: String) -> Bool {
        switch data {
        case .completed, .drafted, .rendered, .unchanged, .superseded, .failed, .stuck, .cancelled:
            self.job == job
        case .previewed, .progressed, .retried, .conflict, .batchCompleted, .batchConflict,
            .batchSealed, .streamHarmed:
            false
        }
    }
}
