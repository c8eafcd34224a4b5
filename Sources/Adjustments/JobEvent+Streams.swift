extension JobEvent {
    /// Somebody with the right to add to a stream used it to drop entries or to end the stream.
    public struct StreamHarmed: Sendable, Codable, Equatable {
        /// `in`, the ingress, or `lane:` and a batch.
        public let stream: String
        /// What was done.
        public let kind: Kind
        /// How many entries are concerned.
        public let entries: Int
        /// The sentence for people.
        public let message: String

        /// What was done to a stream.
        public enum Kind: String, Sendable, Codable {
            /// Entries were dropped before a worker read them.
            case trimmed
            /// An id in the far future had ended the stream; it takes entries again.
            case renewed
            /// A lane was removed that nobody had opened.
            case unopened
        }
    }
}
