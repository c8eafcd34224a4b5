import JobQueue

extension JobReason.Absence {
    /// The end of a sentence that begins with the batch.
    var text: String {
        switch self {
        case .beyondSeal(let jobs):
            "is sealed at \(Phrase.plural(jobs, "job")), so this one never runs; send it in another batch"
        case .notSent: "has not received this job yet"
        case .trimmed:
            "counts this job as cancelled: a producer dropped its entry before a worker read it"
        case .lost: "has lost the record of this job"
        case .unopened:
            "was not opened, so the entries of its stream do not run; open it with its edit"
        case .batchDropped: "has ended, and its record was dropped"
        }
    }
}
