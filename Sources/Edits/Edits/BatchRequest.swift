/// Many jobs with one edit that are counted together.
public struct BatchRequest: Sendable, Equatable {
    /// The name, chosen by the producer. Opening it again with the same edit refers to the same batch.
    public let id: BatchID
    /// The edit of each asset that has no edit of its own.
    public let edit: Edit
    /// The tenant, the priority, and the likely cost of one job. A batch has no times and replaces nothing.
    public let scheduling: Scheduling
    /// The most jobs of the batch that may run or wait to run at the same time; nil for no limit of its own.
    public let cap: Int?

    public init(id: BatchID, edit: Edit, scheduling: Scheduling = Scheduling(), cap: Int? = nil) {
        self.id = id
        self.edit = edit
        self.scheduling = scheduling
        self.cap = cap
    }
}

/// The name of a batch. Its jobs are called `<batch>:<number>`, from 0 in the order of its stream.
public struct BatchID: Sendable, Hashable, CustomStringConvertible {
    /// The text: as a job's id, but shorter, so that its members' ids are no longer than other job ids.
    public let string: String

    /// Checks a name.
    ///
    /// - Throws: `invalidValue`.
    public init(_ string: String) throws(Failure) {
        let fits = string.utf8.count <= ContractLimits.batchIDLengthMax
        guard fits, (try JobID(string)).string == string else {
            throw Failure(
                .invalidValue,
                "batch \(String(string.prefix(80)).debugDescription) has \(string.utf8.count) characters; at "
                    + "most \(ContractLimits.batchIDLengthMax) are allowed.")
        }
        self.string = string
    }

    public var description: String { string }
}

/// One line of a file of a batch's jobs: a job without the fields that the batch defines for all.
public struct BatchMember: Sendable, Equatable {
    /// The photo.
    public let asset: AssetPath
    /// The edit; nil for the batch's edit.
    public let edit: Edit?
    /// The likely cost, in milliseconds of one slot.
    public let cost: Int?
    /// The values of the asset for placeholders.
    public let fields: AssetFields?

    public init(
        asset: AssetPath, edit: Edit? = nil, cost: Int? = nil, fields: AssetFields? = nil
    ) {
        self.asset = asset
        self.edit = edit
        self.cost = cost
        self.fields = fields
    }

    /// Reads `{"asset": …, "edit": {…}, "cost": …, "fields": {…}}`; all but the asset may be left out.
    ///
    /// - Throws: the first error in it.
    public init(json text: String) throws(Failure) {
        guard text.utf8.count <= ContractLimits.jobBytesMax else {
            throw Failure(
                .oversizedField,
                "job has \(text.utf8.count) bytes; at most \(ContractLimits.jobBytesMax) "
                    + "are allowed.")
        }
        let value = try JSONValue(parsing: text, as: "job")
        if case .object(let fields) = value,
            let other = (["id"] + Scheduling.names).first(where: {
                $0 != "cost" && fields[$0] != nil
            })
        {
            throw Failure(
                .unknownField,
                "job.\(other) is not for a job of a batch, whose jobs are called BATCH:0, BATCH:1, … and have the "
                    + "batch's tenant and priority; leave it out, or send the job by itself.")
        }
        let reader = try JSONObjectReader(
            value, at: "job", known: ["asset", "edit", "cost", "fields"])
        self.init(
            asset: try AssetPath(reader.string("asset")),
            edit: try reader.optional("edit").map { value throws(Failure) in try Edit(value) },
            cost: try reader.integer("cost", in: 1...ContractLimits.costMax),
            fields: try reader.optional("fields").map { value throws(Failure) in
                try AssetFields(value, at: "job.fields")
            })
    }
}
