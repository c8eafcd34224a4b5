import Adjustments

extension DeadFilter {
    /// Whether a job of a file is meant.
    public func matches(_ job: SpilledJob) -> Bool {
        if group != nil { return false }
        if let batch, job.batch != batch.string { return false }
        if let tenant, job.tenant != tenant.string { return false }
        if !codes.isEmpty, !codes.contains(where: { $0.rawValue == job.code }) { return false }
        if let since, job.died < since { return false }
        if let until, job.died > until { return false }
        guard let edit else { return true }
        // An edit that cannot be read is why some jobs died: such a job is the one of no digest.
        return job.edit.flatMap { try? Edit(json: $0) }?.json.digest == edit
    }
}
