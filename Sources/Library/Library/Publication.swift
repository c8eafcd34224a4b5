/// The outcome of a publication.
public enum Publication: Sendable, Equatable {
    /// The version is now current, or is now the draft.
    case published
    /// The version was already published: by this worker before a crash, or by the worker that took the job over.
    case alreadyPublished
    /// The job has already made this version, and Redis has lost the record. The new version was removed. No event
    /// may name it, so run the job again: it will find the published one.
    case publishedBefore(String)
    /// Another version became current since this one was started, or there is a draft that arrived later. Run the
    /// job again: it will plan with the new state.
    case conflict(current: VersionName?)
    /// The staged version is missing. Run the job again.
    case lost
}
