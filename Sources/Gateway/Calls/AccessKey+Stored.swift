import AccessKeys
import Adjustments

extension AccessKey {
    /// The name under which the queue has a job, of which the caller gave the name or the stored name.
    ///
    /// A tenant's jobs are stored as `<tenant>.<id>`; a name that begins so is taken as it is.
    func stored(job id: JobID) throws(KeyError) -> JobID {
        terms.tenant != nil && covers(storedID: id.string) ? id : try storedJobID(for: id)
    }

    /// The same for a batch.
    ///
    /// - Throws: `invalidValue` for a name that is too long with the tenant before it.
    func stored(batch name: JobID) throws(Failure) -> BatchID {
        if terms.tenant != nil, covers(storedID: name.string) {
            return try BatchID(name.string)
        }
        let stored: JobID
        do throws(KeyError) {
            stored = try storedBatchName(for: name)
        } catch {
            throw Failure(.invalidValue, error.message)
        }
        return try BatchID(stored.string)
    }

    /// The same for a job in a path, which may be a batch's member, `spring:4711`, or an entry of the ingress stream.
    func stored(inPath text: String) -> String {
        guard let tenant = terms.tenant, !covers(storedID: text) else { return text }
        return "\(tenant).\(text)"
    }
}
