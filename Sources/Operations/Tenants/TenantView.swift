public import Adjustments
public import JobQueue

/// The view that a tenant with a prefix of assets has of a queue that others use too.
///
/// Theirs is a job whose id begins with `<tenant>.`, or whose asset lies below the prefix, and a batch whose name begins with
/// `<tenant>.`. Of all else they do not even hear that it is there. Of what is theirs the names of workers, places of the server's
/// files, and jobs and assets of others are left out; the contract `jobs/event.schema.json` still holds.
public struct TenantView: Sendable {
    private let names: String
    private let assets: String

    /// The word for any worker.
    static let worker = "worker"

    /// The view of a tenant.
    ///
    /// - Parameter assetPrefix: a folder of the library, with or without `/` at its end; empty means all assets.
    public init(tenant: JobID, assetPrefix: String) {
        names = "\(tenant)."
        assets = assetPrefix.isEmpty || assetPrefix.hasSuffix("/") ? assetPrefix : assetPrefix + "/"
    }

    /// Whether a job is theirs.
    public func sees(job: String, asset: String?) -> Bool {
        job.utf8.starts(with: names.utf8) || asset.map { sees(asset: $0) } ?? false
    }

    /// Whether a batch is theirs.
    public func sees(batch: String) -> Bool { batch.utf8.starts(with: names.utf8) }

    /// Whether an asset lies below their prefix.
    public func sees(asset: String) -> Bool { asset.utf8.starts(with: assets.utf8) }

    /// An event as they may have it; nil when it is another's, or about the queue itself.
    ///
    /// - Parameter event: a CloudEvent, as a reader of the stream gets it.
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
            if let text = data[name]?.text { data[name] = .string(words(text, worker)) }
        }
        if case .object(var error)? = data["error"], let text = error["message"]?.text {
            error["message"] = .string(words(text, worker))
            data["error"] = .object(error)
        }
        if let from = data["reusedFrom"]?.text, !sees(asset: from) { data["reusedFrom"] = nil }
        fields["data"] = .object(data)
        return .object(fields)
    }

    /// The same of an event's text.
    ///
    /// - Throws: when it is not JSON.
    public func view(json: String) throws(Failure) -> String? {
        try view(JSONValue(parsing: json, as: "event"))?.canonical
    }

    /// The record of a job as they may have it; nil when it is another's.
    public func view(_ record: JobRecord) -> JobRecord? {
        guard sees(job: record.job, asset: record.asset) else { return nil }
        var view = record
        view.worker = record.worker.map { _ in Self.worker }
        view.message = record.message.map { words($0, record.worker) }
        view.cancel = record.cancel.map { words($0, record.worker) }
        return view
    }

    /// An attempt of a job that is theirs.
    public func view(_ attempt: Attempt) -> Attempt {
        var view = attempt
        view.worker = Self.worker
        view.message = words(attempt.message, attempt.worker)
        return view
    }

    /// The facts of a job as they may have them; nil when it is another's. What is unknown is theirs if its name is.
    public func view(_ facts: JobFacts) -> JobFacts? {
        guard sees(job: facts.job, asset: facts.fields["asset"]) else { return nil }
        var fields = facts.fields
        let worker = fields["worker"]
        if worker != nil { fields["worker"] = Self.worker }
        for name in ["message", "reason", "cancel", "batchCancel", "paused"] {
            fields[name] = fields[name].map { words($0, worker) }
        }
        if let holder = fields["holder"], !holder.utf8.starts(with: names.utf8) {
            fields["holder"] = "another"
        }
        // How much others have sent, and what the sentence for operators says of it.
        for name in ["hold", "holdJobs", "holdBytes", "holdEntries"] where fields[name] != nil {
            fields[name] = name == "hold" ? "enough jobs wait already" : "0"
        }
        if fields["incoming"] != nil { fields["incoming"] = "1" }
        return JobFacts(job: facts.job, fields)
    }

    /// A message without the name of the worker, paths, and jobs of others.
    private func words(_ message: String, _ worker: String?) -> String {
        var text = PublicMessage.of(message)
        if let worker, !worker.isEmpty {
            text.replace("worker \(worker)", with: "its worker")
            text.replace(worker, with: Self.worker)
        }
        // admit.lua says so of a job whose place another one takes.
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
