public import Adjustments

/// Which dead jobs are meant; what is nil or empty does not matter.
public struct DeadFilter: Sendable {
    /// Of this batch.
    public var batch: BatchID?
    /// Of this tenant.
    public var tenant: JobID?
    /// That died of one of these.
    public var codes: Set<FailureCode> = []
    /// That died at this time or later, ms since 1970.
    public var since: Int?
    /// That died at this time or before, ms since 1970.
    public var until: Int?
    /// Whose edit has this digest: SHA-256 of its canonical JSON, in hex.
    public var edit: String?
    /// That are counted in this group, by its ``DeadGroup/name``. Jobs in files are in none.
    public var group: String?

    /// All dead jobs.
    public init() {}

    /// Whether a job is meant, as far as its record says.
    func matches(_ record: JobRecord) -> Bool {
        (batch.map { record.batch == $0.string } ?? true)
            && (group.map { record.group == $0 } ?? true)
            && (tenant.map { record.tenant == $0.string } ?? true)
            && (codes.isEmpty || record.code.map(codes.contains) ?? false)
    }
}
