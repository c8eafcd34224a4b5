/// The state of a job. `Scripts/Shared/base.lua` names the structure that holds a job in each state.
public enum JobState: String, Sendable, Codable, CaseIterable {
    /// The job was sent and is not admitted yet: it has no record of its own.
    case incoming
    /// The job can be claimed.
    case ready
    /// The job waits for its start time or for its next attempt.
    case delayed
    /// The job waits for another job of its asset.
    case parked
    /// A worker holds the job.
    case active
    /// The job's version is recorded and is being published.
    case committing
    /// The job's version could not be published in all permitted attempts: an operator must act.
    case stuck
    /// The job succeeded or was cancelled.
    case done
    /// The job failed permanently.
    case dead
    /// A later version of minilab has set a state that this version does not know.
    case unknown
}
