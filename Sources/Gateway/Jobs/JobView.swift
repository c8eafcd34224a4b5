import AccessKeys
import Adjustments
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

/// A job as its producer sees it: where it is, why, and what became of its attempts.
struct JobView {
    private let facts: JobFacts
    private let attempts: [Attempt]
    private let key: AccessKey

    /// The job, if it is there and the caller's.
    ///
    /// - Throws: `notFound`; `gone` when only its name is remembered.
    static func find(_ job: String, _ call: Call) async throws -> JobView {
        let key = try call.key
        let facts = try await call.parts.queue.facts(of: job)
        guard facts.state != "unknown" else { throw unknown(job) }
        if facts.state == "dropped" {
            // Of a dropped job nothing but its name says whose it was.
            guard key.covers(storedID: job) else { throw unknown(job) }
            throw Problem(
                .gone,
                "Job \(job) ended so long ago that only its name is remembered; see its asset's history."
            )
        }
        let asset = facts.fields["asset"].flatMap { text in
            do { return try AssetPath(text) } catch { return nil as AssetPath? }
        }
        guard
            key.mayRead(id: job, tenant: facts.fields["tenant"] ?? "default", asset: asset)
        else { throw unknown(job) }
        let attempts = try await call.parts.queue.attempts(of: job)
        return JobView(facts: facts, attempts: attempts, key: key)
    }

    /// The job as a response.
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

    /// Whether nothing more becomes of it by itself.
    var hasEnded: Bool { ["done", "dead", "stuck"].contains(facts.state) }

    /// Fields of a job that are whole numbers, as Redis names them and as they are shown.
    private static let numbers = [
        "generation", "attempts", "crashes", "enqueued", "claimed", "ended", "frames", "framesDone",
    ]
    private static let texts = [
        "asset", "tenant", "priority", "batch", "outcome", "version", "code",
    ]

    var json: JSONValue {
        var fields: [String: JSONValue] = [
            "job": .string(facts.job), "state": .string(facts.state),
            "reason": facts.reason.json, "detail": .string(facts.detail),
        ]
        for name in Self.texts { fields[name] = facts.fields[name].map(JSONValue.string) }
        for name in Self.numbers {
            fields[name] = facts.fields[name].flatMap { Double($0) }.map(JSONValue.number)
        }
        if !attempts.isEmpty { fields["history"] = .array(attempts.map(history)) }
        return .object(fields)
    }

    /// Why an attempt ended; a tenant hears nothing of workers and of the server's paths.
    private func history(_ attempt: Attempt) -> JSONValue {
        var fields: [String: JSONValue] = [
            "at": .string(attempt.at), "code": .string(attempt.code.rawValue),
            "message": .string(
                key.tenant == nil ? attempt.message : PublicMessage.of(attempt.message)),
        ]
        if let stage = attempt.stage { fields["stage"] = .string(stage) }
        if let signal = attempt.signal { fields["signal"] = .number(Double(signal)) }
        if key.tenant == nil { fields["worker"] = .string(attempt.worker) }
        return .object(fields)
    }
}
