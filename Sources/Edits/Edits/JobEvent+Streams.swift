extension JobEvent {
    /// A client with the right to add to a stream used it to drop entries or to end the stream.
    public struct StreamHarmed: Sendable, Codable, Equatable {
        /// `in`, the ingress stream, or `lane:` and a batch.
        public let stream: String
        /// The kind of harm.
        public let kind: Kind
        /// The number of affected entries.
        public let entries: Int
        /// The sentence for people.
        public let message: String

        /// The kinds of harm to a stream.
        public enum Kind: String, Sendable, Codable {
            /// Entries were dropped before a worker read them.
            case trimmed
            /// An id in the far future had ended the stream. The stream accepts entries again.
            case renewed
            /// The stream of a batch that was never opened was removed.
            case unopened
        }
    }
}
