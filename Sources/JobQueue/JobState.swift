/// Where a job is; `Scripts/Shared/base.lua` says which structure has it then.
public enum JobState: String, Sendable, Codable, CaseIterable {
    /// It was sent, and is not taken in yet: it has no record of its own.
    case incoming
    /// It can be claimed.
    case ready
    /// It waits for its time, or for its next attempt.
    case delayed
    /// It waits for another job of its asset.
    case parked
    /// A worker holds it.
    case active
    /// Its version is recorded and is being published.
    case committing
    /// Its version could not be published however often that was tried: somebody has to look.
    case stuck
    /// It ended well, or was cancelled.
    case done
    /// It failed for good.
    case dead
    /// A later version of minilab has put it where this one does not know.
    case unknown
}
