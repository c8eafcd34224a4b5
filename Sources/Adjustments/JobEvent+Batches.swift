extension JobEvent {
    /// A job was cancelled: by hand, with its batch, or because a newer edit took its place.
    public struct Cancelled: Sendable, Codable, Equatable {
        /// The job.
        public let job: String
        /// Its asset.
        public let asset: String
        /// How often the job was started from the dead, plus one.
        public let generation: Int
        /// Why, for people.
        public let reason: String
    }

    /// All jobs of a batch have ended.
    public struct BatchCompleted: Sendable, Codable, Equatable {
        /// The batch.
        public let batch: String
        /// Who asked.
        public let tenant: String
        /// How often the batch was completed, this time included: a replay of its dead jobs opens it again.
        public let generation: Int
        /// How many jobs it has.
        public let jobs: Int
        /// How many ended well.
        public let completed: Int
        /// How many are dead.
        public let failed: Int
        /// How many were cancelled.
        public let cancelled: Int
        /// How long workers held its jobs, all together.
        public let milliseconds: Int
        /// When it was opened; RFC 3339.
        public let openedAt: String
    }

    /// A batch that nobody sealed was sealed by a worker, because nothing was added for a long time.
    public struct BatchSealed: Sendable, Codable, Equatable {
        /// The batch.
        public let batch: String
        /// How many jobs it has.
        public let jobs: Int
        /// The sentence for people.
        public let message: String
    }

    /// A batch was opened again with another edit, or after it had ended and been dropped, or sealed again at another
    /// number of jobs; that entry was not taken.
    public struct BatchConflict: Sendable, Codable, Equatable {
        /// The batch.
        public let batch: String
        /// The entry's id in the ingress stream.
        public let entry: String
        /// How many entries of the batch's lane were removed, when its name is that of a batch that ended.
        public let dropped: Int?
        /// The sentence for people.
        public let message: String
    }
}
