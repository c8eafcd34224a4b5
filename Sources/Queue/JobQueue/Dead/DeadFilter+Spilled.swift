import Edits

extension DeadFilter {
    /// Returns whether the filter matches a job from a file.
    public func matches(_ job: SpilledJob) -> Bool {
        if group != nil { return false }
        guard reach.covers(job: job.job, tenant: job.tenant, asset: job.asset) else { return false }
        if let batch, job.batch != batch.string { return false }
        if let tenant, job.tenant != tenant.string { return false }
        if !codes.isEmpty, !codes.contains(where: { $0.rawValue == job.code }) { return false }
        if let since, job.died < since { return false }
        if let until, job.died > until { return false }
        guard let edit else { return true }
        // Some jobs died because their edit cannot be decoded. Such an edit has no digest.
        return job.edit.flatMap { try? Edit(json: $0) }?.json.digest == edit
    }
}
