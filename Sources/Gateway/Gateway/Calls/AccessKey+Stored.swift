import AccessKeys
import Edits

extension AccessKey {
    /// Returns the name under which the queue stores a job. The caller may pass the client's name or the stored name.
    ///
    /// A tenant's jobs are stored as `<tenant>.<id>`; a name that already has this prefix is returned as it is.
    func stored(job id: JobID) throws(KeyError) -> JobID {
        terms.tenant != nil && covers(storedID: id.string) ? id : try storedJobID(for: id)
    }

    /// Returns the stored name of a batch, by the same rules.
    ///
    /// - Throws: `invalidValue` for a name that is too long with the tenant's prefix.
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

    /// Returns the stored name of a job in a path. It may be a batch's member, `spring:4711`, or an entry of the
    /// ingress stream.
    func stored(inPath text: String) -> String {
        guard let tenant = terms.tenant, !covers(storedID: text) else { return text }
        return "\(tenant).\(text)"
    }
}
