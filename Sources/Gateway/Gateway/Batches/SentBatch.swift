import AccessKeys
import Edits
import Hummingbird

/// A batch as a client opens it, with the caller's tenant and prefix applied.
struct SentBatch {
    let request: BatchRequest

    /// - Throws: the fault of the body, with a JSON pointer.
    init(_ call: Call) async throws {
        let key = try call.key
        let text = try await call.text(atMost: ContractLimits.jobBytesMax)
        do throws(Failure) {
            request = try Self.read(JSONValue(parsing: text, as: "the body"), key)
        } catch {
            throw Problem(error, in: text, roots: ["batch", "job"])
        }
        try EditBorder(key).check(request.edit)
    }

    private static func read(
        _ json: JSONValue, _ key: AccessKey
    ) throws(Failure) -> BatchRequest {
        guard case .object(var fields) = json else {
            throw Failure(.invalidValue, "batch is \(json.kind); expected an object.")
        }
        guard case .string(let id)? = fields.removeValue(forKey: "id") else {
            throw Failure(.missingField, "batch.id is missing; it names the batch.")
        }
        var cap: Int?
        switch fields.removeValue(forKey: "cap") {
        case nil, .null?: break
        case .number(let number)?:
            guard let whole = Int(exactly: number),
                (1...ContractLimits.batchJobsMax).contains(whole)
            else { fallthrough }
            cap = whole
        default:
            throw Failure(
                .invalidValue,
                "batch.cap is no whole number from 1 to \(ContractLimits.batchJobsMax).")
        }
        let others = ["asset", "notBefore", "deadline", "replace", "traceparent"]
        for name in others where fields[name] != nil {
            throw Failure(.unknownField, "batch.\(name) is not a field of a batch.")
        }
        // Edit and scheduling have the syntax of a job, so they are parsed as a job with a placeholder asset.
        fields["asset"] = .string("a")
        let job = try JobRequest(json: JSONValue.object(fields).canonical)
        var scheduling = job.scheduling
        if let tenant = key.tenant {
            guard scheduling.tenant == nil || scheduling.tenant == tenant else {
                throw Failure(.invalidValue, "batch.tenant is not the tenant of this key.")
            }
            scheduling.tenant = tenant
        }
        return BatchRequest(
            id: try key.stored(batch: JobID(id)), edit: job.edit, scheduling: scheduling, cap: cap)
    }
}

/// The body that seals a batch: the number of its jobs.
struct SealBody {
    let jobs: Int
    let cost: Int?

    /// - Throws: `badBody`.
    init(_ json: JSONValue) throws(Problem) {
        guard case .object(let fields) = json, Set(fields.keys).isSubset(of: ["jobs", "cost"]),
            let jobs = Self.whole(fields["jobs"], 1...ContractLimits.batchJobsMax)
        else {
            throw Problem(
                .badBody,
                #"The body is no {"jobs": n} with n from 1 to \#(ContractLimits.batchJobsMax)."#)
        }
        self.jobs = jobs
        cost = Self.whole(fields["cost"], 1...Int(1e15))
        guard cost != nil || fields["cost"] == nil else {
            throw Problem(.badBody, "cost is no whole number of milliseconds from 1.")
        }
    }

    private static func whole(_ value: JSONValue?, _ range: ClosedRange<Int>) -> Int? {
        guard case .number(let number)? = value, let whole = Int(exactly: number),
            range.contains(whole)
        else { return nil }
        return whole
    }
}
