public import Edits
public import JobQueue

/// The view that a caller has of a queue that others use too.
///
/// It hides the existence of everything beyond the caller's ``Reach``. In a tenant's own data it leaves out names of workers, paths
/// of the server's files, and jobs and assets of others; the result still conforms to `jobs/event.schema.json`.
public struct TenantView: Sendable {
    private let reach: Reach
    /// Whether the caller is a tenant. Operators see workers and paths.
    private var isRedacted: Bool { reach.tenant != nil }

    /// The text that replaces the name of any worker.
    static let worker = "worker"

    public init(_ reach: Reach) { self.reach = reach }

    /// Returns the caller's view of an event; nil if it is beyond the caller's reach.
    ///
    /// - Parameters:
    ///   - event: A CloudEvent, as a reader of the stream receives it.
    ///   - json: The same as JSON.
    /// - Throws: A failure if the text is not JSON.
    public func view(_ event: JobEvent, json: String) throws(Failure) -> String? {
        guard reach.covers(event) else { return nil }
        guard isRedacted else { return json }
        return try redacted(JSONValue(parsing: json, as: "event"))?.canonical
    }

    private func redacted(_ event: JSONValue) -> JSONValue? {
        guard case .object(var fields) = event, case .object(var data)? = fields["data"] else {
            return nil
        }
        let worker = data["worker"]?.text
        if worker != nil { data["worker"] = .string(Self.worker) }
        for name in ["message", "reason"] {
            if let text = data[name]?.text { data[name] = .string(redacted(text, worker)) }
        }
        if case .object(var error)? = data["error"], let text = error["message"]?.text {
            error["message"] = .string(redacted(text, worker))
            data["error"] = .object(error)
        }
        if let from = data["reusedFrom"]?.text, !reach.covers(asset: from) {
            data["reusedFrom"] = nil
        }
        if case .array(let untold)? = data["untold"] {
            data["untold"] = .array(untold.map(withoutForeignJob))
        }
        fields["data"] = .object(data)
        return .object(fields)
    }

    /// Returns a version that no event has told, without the name of another tenant's job.
    private func withoutForeignJob(_ version: JSONValue) -> JSONValue {
        guard case .object(var fields) = version, let job = fields["job"]?.text,
            !reach.covers(name: job)
        else { return version }
        fields["job"] = nil
        return .object(fields)
    }

    /// Returns the caller's view of a job's record; nil if the job is beyond the caller's reach.
    public func view(_ record: JobRecord) -> JobRecord? {
        guard reach.covers(job: record.job, tenant: record.tenant, asset: record.asset) else {
            return nil
        }
        guard isRedacted else { return record }
        var view = record
        view.worker = record.worker.map { _ in Self.worker }
        view.message = record.message.map { redacted($0, record.worker) }
        view.cancel = record.cancel.map { redacted($0, record.worker) }
        return view
    }

    /// Returns the caller's view of an attempt of one of its jobs.
    public func view(_ attempt: Attempt) -> Attempt {
        guard isRedacted else { return attempt }
        var view = attempt
        view.worker = Self.worker
        view.message = redacted(attempt.message, attempt.worker)
        return view
    }

    /// Returns the caller's view of a job's facts; nil if the job is beyond the caller's reach, or unknown. A dropped job, of which
    /// only the name is left, is the caller's if its name is: all keys of a tenant share one space of names.
    public func view(_ facts: JobFacts) -> JobFacts? {
        guard sees(facts) else { return nil }
        guard isRedacted else { return facts }
        var fields = facts.fields
        let worker = fields["worker"]
        if worker != nil { fields["worker"] = Self.worker }
        for name in ["message", "reason", "cancel", "batchCancel", "paused"] {
            fields[name] = fields[name].map { redacted($0, worker) }
        }
        if let holder = fields["holder"], !reach.covers(name: holder) {
            fields["holder"] = "another"
        }
        fields["trouble"] = fields["trouble"].map { _ in Self.worker }
        fields["places"] = nil
        // These fields count the entries of other tenants, and contain the sentence for operators about them.
        for name in ["hold", "holdJobs", "holdBytes", "holdEntries"] where fields[name] != nil {
            fields[name] = name == "hold" ? "enough jobs wait already" : "0"
        }
        if fields["incoming"] != nil { fields["incoming"] = "1" }
        return JobFacts(job: facts.job, fields)
    }

    private func sees(_ facts: JobFacts) -> Bool {
        guard facts.isKnown else { return false }
        if facts.state == .dropped { return reach.covers(name: facts.job) }
        let tenant = facts.fields["tenant"] ?? "default"
        // A member that is not a job yet has the folder of its batch.
        guard facts.fields["asset"] == nil, let batch = facts.fields["batch"] else {
            return reach.covers(job: facts.job, tenant: tenant, asset: facts.fields["asset"])
        }
        return reach.covers(batch: batch, tenant: tenant, folder: facts.fields["batchFolder"])
    }

    /// Returns a message without the name of the worker, paths, and jobs of other tenants.
    private func redacted(_ message: String, _ worker: String?) -> String {
        var text = PublicMessage.of(message)
        if let worker, !worker.isEmpty {
            text.replace("worker \(worker)", with: "its worker")
            text.replace(worker, with: Self.worker)
        }
        // admit.lua writes this reason for a replaced job.
        let replaced = "replaced by job "
        if text.hasPrefix(replaced), !reach.covers(name: String(text.dropFirst(replaced.count))) {
            return "replaced by another job"
        }
        return text
    }
}

extension JSONValue {
    fileprivate var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }
}
