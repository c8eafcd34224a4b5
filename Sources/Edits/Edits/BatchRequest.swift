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

    /// Makes a request.
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
