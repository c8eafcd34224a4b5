extension JobEvent {
    /// A newer edit of the asset was published before this one was processed. Nothing was rendered.
    public struct Superseded: Sendable, Codable, Equatable {
        /// The job.
        public let job: String
        /// Its asset.
        public let asset: String
        /// The number of times the job was replayed, plus one.
        public let generation: Int
        /// The number of this attempt in the generation, from 1.
        public let attempt: Int
        /// The worker that compared the two edits.
        public let worker: String
        /// The mode of the skipped edit.
        public let mode: Edit.Name
        /// The version or draft of the later edit, which stays.
        public let version: Version
        /// The job that made that version.
        public let by: String
        /// The reason, for people.
        public let reason: String

        /// Makes the data of an event.
        public init(
            job: String, asset: String, generation: Int, attempt: Int, worker: String,
            mode: Edit.Name, version: Version, by: String, reason: String
        ) {
            self.job = job
            self.asset = asset
            self.generation = generation
            self.attempt = attempt
            self.worker = worker
            self.mode = mode
            self.version = version
            self.by = by
            self.reason = reason
        }
    }
}
