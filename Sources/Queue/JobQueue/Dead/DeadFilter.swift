public import Edits

/// A filter of dead jobs: of those within somebody's reach, the ones that meet all conditions. A condition that is nil or empty
/// matches every job.
public struct DeadFilter: Sendable {
    /// The jobs that the caller may see.
    public let reach: Reach
    /// The batch of the job.
    public var batch: BatchID?
    /// The tenant of the job.
    public var tenant: JobID?
    /// The failure codes, one of which the job died of.
    public var codes: Set<FailureCode> = []
    /// The earliest time of death, ms since 1970.
    public var since: Int?
    /// The latest time of death, ms since 1970.
    public var until: Int?
    /// The digest of the job's edit: SHA-256 of its canonical JSON, in hex.
    public var edit: String?
    /// The ``DeadGroup/name`` of the group that counts the job. Jobs in files are in no group.
    public var group: String?

    /// Creates a filter that matches all dead jobs within reach.
    public init(_ reach: Reach) { self.reach = reach }

    /// Returns whether the filter matches a job, as far as the job's record tells.
    func matches(_ record: JobRecord) -> Bool {
        reach.covers(job: record.job, tenant: record.tenant, asset: record.asset)
            && (batch.map { record.batch == $0.string } ?? true)
            && (group.map { record.group == $0 } ?? true)
            && (tenant.map { record.tenant == $0.string } ?? true)
            && (codes.isEmpty || record.code.map(codes.contains) ?? false)
    }
}
