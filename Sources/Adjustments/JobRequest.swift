/// What a producer asks for: one edit of one asset.
public struct JobRequest: Sendable, Equatable {
    /// The producer's own id, or nil to let the ingress stream give one.
    public let id: JobID?
    /// Which photo.
    public let asset: AssetPath
    /// What to do with it.
    public let edit: Edit
    /// When and for whom.
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

    /// SHA-256 of asset and recipe in hex: requests for the same thing have the same one.
    public var digest: String {
        JSONValue.object(["asset": .string(asset.string), "edit": edit.json]).digest
    }

    /// Reads one line of a manifest: `{"asset": …, "edit": {…}, "id": …}` (`jobs/job.schema.json`).
    ///
    /// - Throws: the first thing that is wrong with it.
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
        if reader.optional("id") != nil { id = try JobID(reader.string("id")) }
        self.init(
            id: id, asset: try AssetPath(reader.string("asset")),
            edit: try Edit(reader.value("edit")), scheduling: try Scheduling(reader))
    }
}
