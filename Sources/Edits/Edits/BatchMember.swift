/// One line of a file of a batch's jobs: a job without the fields that the batch defines for all.
public struct BatchMember: Sendable, Equatable {
    /// The photo.
    public let asset: AssetPath
    /// The edit; nil for the batch's edit.
    public let edit: Edit?
    /// The likely cost, in milliseconds of one slot.
    public let cost: Int?

    /// Makes a member.
    public init(asset: AssetPath, edit: Edit? = nil, cost: Int? = nil) {
        self.asset = asset
        self.edit = edit
        self.cost = cost
    }

    /// Reads `{"asset": …, "edit": {…}, "cost": …}`; edit and cost may be left out.
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
        let reader = try JSONObjectReader(value, at: "job", known: ["asset", "edit", "cost"])
        self.init(
            asset: try AssetPath(reader.string("asset")),
            edit: try reader.optional("edit").map { value throws(Failure) in try Edit(value) },
            cost: try reader.integer("cost", in: 1...ContractLimits.costMax))
    }
}
