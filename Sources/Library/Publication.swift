/// The outcome of a publication.
public enum Publication: Sendable, Equatable {
    /// It is current now, or the draft.
    case published
    /// It was published before: by us ahead of a crash, or by the worker that carried our job on.
    case alreadyPublished
    /// The job has made this version before, as Redis has forgotten: the new one is gone. An event must not name it, so
    /// run the job again: it finds the one that stands.
    case publishedBefore(String)
    /// Another version became current since this one was begun, or a draft that arrived later is there: make it again,
    /// which finds that out.
    case conflict(current: VersionName?)
    /// The staged version is not there: make it again.
    case lost
}
