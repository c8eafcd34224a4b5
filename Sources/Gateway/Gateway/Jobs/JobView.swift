import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

/// A job as the caller may see it: its state, the reason, and the outcomes of its attempts.
struct JobView {
    private let facts: JobFacts
    let attempts: [Attempt]

    /// Returns the job.
    ///
    /// - Throws: `notFound` if it is missing or not the caller's; `gone` if only its name is remembered.
    static func find(_ job: String, _ call: Call) async throws -> JobView {
        let key = try call.key
        let facts = try await call.parts.queue.facts(
            of: job, among: try await call.parts.views.fleet.workers())
        guard let shown = key.view.view(facts) else { throw unknown(job) }
        if facts.state == .dropped {
            throw Problem(.gone, "Job \(job) has no record any more. \(shown.detail)")
        }
        let attempts = try await call.parts.queue.attempts(of: job)
        return JobView(facts: shown, attempts: attempts.map(key.view.view))
    }

    var job: String { facts.job }
    var state: JobState { facts.state }
    var asset: String? { facts.fields["asset"] }
    /// The reason for the state, as text for people.
    var detail: String { facts.detail }
    var percent: Int? {
        guard let frames = facts.fields["frames"].flatMap({ Int($0) }), frames > 0,
            let done = facts.fields["framesDone"].flatMap({ Int($0) })
        else { return nil }
        return done * 100 / frames
    }

    static func response(
        of job: String, _ call: Call, applied wait: WaitPreference? = nil
    ) async throws -> Response {
        let view = try await find(job, call)
        var headers = HTTPFields()
        if let wait { headers[.preferenceApplied] = "wait=\(wait.seconds)" }
        return .json(view.json, headers: headers)
    }

    static func unknown(_ job: String) -> Problem {
        Problem(
            .notFound,
            "There is no job \(String(job.prefix(200)).debugDescription): its id is wrong, or it was done long ago."
        )
    }

    /// Whether the job's state can no longer change by itself.
    var hasEnded: Bool { !facts.state.goesOn }

    /// The fields of a job that are whole numbers, under their names in Redis and in the response.
    private static let numbers = [
        "generation", "attempts", "crashes", "enqueued", "claimed", "ended", "frames", "framesDone",
    ]
    private static let texts = [
        "asset", "tenant", "priority", "batch", "outcome", "version", "code",
    ]

    var json: JSONValue {
        var fields: [String: JSONValue] = [
            "job": .string(facts.job), "state": .string(facts.state.rawValue),
            "reason": facts.reason.json, "detail": .string(facts.detail),
        ]
        for name in Self.texts { fields[name] = facts.fields[name].map(JSONValue.string) }
        for name in Self.numbers {
            fields[name] = facts.fields[name].flatMap { Double($0) }.map(JSONValue.number)
        }
        if !attempts.isEmpty { fields["history"] = .array(attempts.map(history)) }
        return .object(fields)
    }

    private func history(_ attempt: Attempt) -> JSONValue {
        var fields: [String: JSONValue] = [
            "at": .string(attempt.at), "code": .string(attempt.code.rawValue),
            "message": .string(attempt.message), "worker": .string(attempt.worker),
        ]
        if let stage = attempt.stage { fields["stage"] = .string(stage) }
        if let signal = attempt.signal { fields["signal"] = .number(Double(signal)) }
        return .object(fields)
    }
}
