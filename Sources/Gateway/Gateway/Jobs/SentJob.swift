import AccessKeys
import Edits
import HTTPTypes
import Hummingbird

/// A job as a client sent it, with the caller's tenant and prefix applied and with a name.
struct SentJob {
    let request: JobRequest
    /// The problem to throw if another job has its name.
    let conflict: Problem

    /// - Throws: the fault of the body, with a JSON pointer.
    init(_ call: Call) async throws {
        let key = try call.key
        let text = try await call.text(atMost: ContractLimits.jobBytesMax)
        let sent = try await call.inTurn(text.utf8.count) {
            do throws(Failure) {
                return try JobRequest(json: text)
            } catch {
                throw Problem(error, in: text, roots: ["job"])
            }
        }
        let border = EditBorder(key)
        try border.check(sent.asset)
        try border.check(sent.edit)
        var scheduling = sent.scheduling
        if let tenant = key.tenant {
            guard scheduling.tenant == nil || scheduling.tenant == tenant else {
                var problem = Problem(
                    .notFound, "There is no tenant \(scheduling.tenant?.string ?? "").")
                problem.pointer = "#/tenant"
                throw problem
            }
            scheduling.tenant = tenant
        }
        let name = try Self.name(sent, key, call)
        request = JobRequest(
            id: name?.id, asset: sent.asset, edit: sent.edit, fields: sent.fields,
            scheduling: scheduling)
        conflict =
            name?.isDerived ?? false
            ? Problem(
                .idempotencyMismatch,
                "Idempotency-Key was used before, for a job with another asset, edit or fields. Use a new one."
            )
            : Problem(
                .conflict,
                "Job \(name?.id.string ?? "") is there with another asset, edit or fields. Use a new id for a new edit."
            )
    }

    /// Returns the job's name; nil if the queue is to choose one, which only operators' keys may request.
    private static func name(
        _ sent: JobRequest, _ key: AccessKey, _ call: Call
    ) throws -> (id: JobID, isDerived: Bool)? {
        if let id = sent.id { return (try key.stored(job: id), false) }
        if let text = call.header(.idempotencyKey) {
            guard call.request.headers[values: .idempotencyKey].count == 1 else {
                throw Problem(
                    .badParameter, "Idempotency-Key is there more than once; one names one job.")
            }
            guard (1...255).contains(text.utf8.count) else {
                throw Problem(
                    .badParameter,
                    "Idempotency-Key has \(text.utf8.count) bytes; expected 1 to 255.")
            }
            // The same text from two keys of one tenant names the same job; from two tenants, it names two jobs.
            let digest = SHA256.hash(data: "\(key.tenant?.string ?? "")\n\(text)".utf8)
            return (try key.stored(job: JobID("i" + digest.prefix(12).hex)), true)
        }
        return try randomName(key).map { ($0, false) }
    }

    /// Returns a name that no other job has; nil for an operator's key, because the queue names its jobs.
    static func randomName(_ key: AccessKey) throws -> JobID? {
        guard key.tenant != nil else { return nil }
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<12).map { _ in UInt8.random(in: 0...255, using: &random) }
        return try key.stored(job: JobID("j" + bytes.hex))
    }
}
