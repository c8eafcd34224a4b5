extension JobEvent {
    /// A job was cancelled: by hand, with its batch, or because a newer edit replaced it.
    public struct Cancelled: Sendable, Codable, Equatable {
        /// The job.
        public let job: String
        /// Its asset.
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The reason, for people.
        public let reason: String
    }

    /// All jobs of a batch have finished.
    public struct BatchCompleted: Sendable, Codable, Equatable {
        /// The batch.
        public let batch: String
        /// The tenant that submitted the batch.
        public let tenant: String
        /// The number of times the batch was completed, including this one: a replay of its dead jobs opens it again.
        public let generation: Int
        /// The number of its jobs.
        public let jobs: Int
        /// The number of jobs that succeeded.
        public let completed: Int
        /// The number of dead jobs.
        public let failed: Int
        /// The number of cancelled jobs.
        public let cancelled: Int
        /// The total time for which workers held its jobs.
        public let milliseconds: Int
        /// The time at which it was opened; RFC 3339.
        public let openedAt: String
    }

    /// A worker sealed an unsealed batch, because nothing was added for a long time.
    public struct BatchSealed: Sendable, Codable, Equatable {
        /// The batch.
        public let batch: String
        /// The number of its jobs.
        public let jobs: Int
        /// The sentence for people.
        public let message: String
    }

    /// A batch was opened again with another edit, or after it had finished and been dropped, or sealed again at another number of
    /// jobs. The entry was rejected.
    public struct BatchConflict: Sendable, Codable, Equatable {
        /// The batch.
        public let batch: String
        /// The entry's id in the ingress stream.
        public let entry: String
        /// The number of entries removed from the batch's stream, if its name is that of a finished batch.
        public let dropped: Int?
        /// The sentence for people.
        public let message: String
    }
}
