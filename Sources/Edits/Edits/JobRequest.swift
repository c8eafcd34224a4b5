/// The request of a producer: one edit of one asset.
public struct JobRequest: Sendable, Equatable {
    /// The producer's own id, or nil to use the id of the entry in the ingress stream.
    public let id: JobID?
    /// The photo.
    public let asset: AssetPath
    /// The edit.
    public let edit: Edit
    /// The time constraints and the tenant.
    public let scheduling: Scheduling

    /// Makes a request.
    public init(
        id: JobID? = nil, asset: AssetPath, edit: Edit, scheduling: Scheduling = Scheduling()
    ) {
        self.id = id
        self.asset = asset
        self.edit = edit
        self.scheduling = scheduling
    }

    /// SHA-256 of asset and recipe in hex: equal for requests of the same work.
    public var digest: String {
        JSONValue.object(["asset": .string(asset.string), "edit": edit.json]).digest
    }

    /// Reads one line of a manifest: `{"asset": …, "edit": {…}, "id": …}` (`jobs/job.schema.json`).
    ///
    /// - Throws: the first error in it.
    public init(json text: String) throws(Failure) {
        guard text.utf8.count <= ContractLimits.jobBytesMax else {
            throw Failure(
                .oversizedField,
                "job has \(text.utf8.count) bytes; at most \(ContractLimits.jobBytesMax) "
                    + "are allowed.")
        }
        let reader = try JSONObjectReader(
            JSONValue(parsing: text, as: "job"), at: "job",
            known: ["asset", "edit", "id"] + Scheduling.names)
        var id: JobID?
        if reader.optional("id") != nil { id = try JobID(ofJob: reader.string("id")) }
        self.init(
            id: id, asset: try AssetPath(reader.string("asset")),
            edit: try Edit(reader.value("edit")), scheduling: try Scheduling(reader))
    }
}
