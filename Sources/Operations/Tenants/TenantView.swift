public import Adjustments
public import JobQueue

/// The view that a tenant with an asset prefix has of a queue that other tenants use too.
///
/// A job belongs to the tenant if its id begins with `<tenant>.`, or if its asset is below the prefix. A batch belongs to the
/// tenant if its name begins with `<tenant>.`. The view hides the existence of everything else. In the tenant's own data it leaves
/// out names of workers, paths of the server's files, and jobs and assets of other tenants; the result still conforms to
/// `jobs/event.schema.json`.
public struct TenantView: Sendable {
    private let names: String
    private let assets: String

    /// The text that replaces the name of any worker.
    static let worker = "worker"

    /// Creates the view of a tenant.
    ///
    /// - Parameter assetPrefix: A folder of the library, with or without `/` at its end; empty means all assets.
    public init(tenant: JobID, assetPrefix: String) {
        names = "\(tenant)."
        assets = assetPrefix.isEmpty || assetPrefix.hasSuffix("/") ? assetPrefix : assetPrefix + "/"
    }

    /// Returns whether a job belongs to the tenant.
    public func sees(job: String, asset: String?) -> Bool {
        job.utf8.starts(with: names.utf8) || asset.map { sees(asset: $0) } ?? false
    }

    /// Returns whether a batch belongs to the tenant.
    public func sees(batch: String) -> Bool { batch.utf8.starts(with: names.utf8) }

    /// Returns whether an asset is below the tenant's prefix.
    public func sees(asset: String) -> Bool { asset.utf8.starts(with: assets.utf8) }

    /// Returns the tenant's view of an event; nil if it belongs to another tenant, or concerns the queue itself.
    ///
    /// - Parameter event: A CloudEvent, as a reader of the stream receives it.
    public func view(_ event: JSONValue) -> JSONValue? {
        guard case .object(var fields) = event, case .object(var data)? = fields["data"],
            case .string(let type)? = fields["type"]
        else { return nil }
        if type.hasPrefix("org.minilab.job.") {
            guard case .string(let job)? = data["job"] else { return nil }
            guard sees(job: job, asset: data["asset"]?.text) else { return nil }
        } else {
            guard type.hasPrefix("org.minilab.batch."), let batch = data["batch"]?.text,
                sees(batch: batch)
            else { return nil }
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
        if let from = data["reusedFrom"]?.text, !sees(asset: from) { data["reusedFrom"] = nil }
        fields["data"] = .object(data)
        return .object(fields)
    }

    /// Returns the tenant's view of an event's JSON text.
    ///
    /// - Throws: A failure if the text is not JSON.
    public func view(json: String) throws(Failure) -> String? {
        try view(JSONValue(parsing: json, as: "event"))?.canonical
    }

    /// Returns the tenant's view of a job's record; nil if the job belongs to another tenant.
    public func view(_ record: JobRecord) -> JobRecord? {
        guard sees(job: record.job, asset: record.asset) else { return nil }
        var view = record
        view.worker = record.worker.map { _ in Self.worker }
        view.message = record.message.map { redacted($0, record.worker) }
        view.cancel = record.cancel.map { redacted($0, record.worker) }
        return view
    }

    /// Returns the tenant's view of an attempt of one of its jobs.
    public func view(_ attempt: Attempt) -> Attempt {
        var view = attempt
        view.worker = Self.worker
        view.message = redacted(attempt.message, attempt.worker)
        return view
    }

    /// Returns the tenant's view of a job's facts; nil if the job belongs to another tenant. An unknown job belongs to the
    /// tenant if its name does.
    public func view(_ facts: JobFacts) -> JobFacts? {
        guard sees(job: facts.job, asset: facts.fields["asset"]) else { return nil }
        var fields = facts.fields
        let worker = fields["worker"]
        if worker != nil { fields["worker"] = Self.worker }
        for name in ["message", "reason", "cancel", "batchCancel", "paused"] {
            fields[name] = fields[name].map { redacted($0, worker) }
        }
        if let holder = fields["holder"], !holder.utf8.starts(with: names.utf8) {
            fields["holder"] = "another"
        }
        // These fields count the entries of other tenants, and contain the sentence for operators about them.
        for name in ["hold", "holdJobs", "holdBytes", "holdEntries"] where fields[name] != nil {
            fields[name] = name == "hold" ? "enough jobs wait already" : "0"
        }
        if fields["incoming"] != nil { fields["incoming"] = "1" }
        return JobFacts(job: facts.job, fields)
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
        if text.hasPrefix(replaced), !text.dropFirst(replaced.count).utf8.starts(with: names.utf8) {
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
