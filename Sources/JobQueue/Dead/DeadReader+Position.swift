public import Adjustments

extension DeadReader {
    /// A place between two dead jobs: after the one that was read last.
    ///
    /// As text it can be given to a client and back: opaque to it, and checked. It holds however many jobs die, are replayed or
    /// go meanwhile, also the one it names.
    public struct Position: Sendable, Equatable, CustomStringConvertible {
        /// When the job died that was read last, or the time from which on it is read; ms since 1970.
        let from: Int
        /// Jobs that died later are not read; ms since 1970.
        let until: Int
        /// The job that was read last; empty for none.
        let job: String

        /// Longest text: longer than that of any job.
        static let textMax = 256
        private static let separator = ","

        init(from: Int, until: Int, job: String) {
            (self.from, self.until, self.job) = (from, until, job)
        }

        /// Reads a text.
        ///
        /// - Throws: `invalidValue`.
        public init(_ text: String) throws(Failure) {
            let words =
                text.utf8.count > Self.textMax
                ? []
                : text.split(
                    separator: Self.separator, maxSplits: 2, omittingEmptySubsequences: false)
            guard words.count == 3, let from = Self.time(words[0]), let until = Self.time(words[1]),
                words[2].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else {
                throw Failure(
                    .invalidValue,
                    "cursor \(String(text.prefix(80)).debugDescription) is none of a list of dead jobs; begin without "
                        + "one.")
            }
            self.init(from: from, until: until, job: String(words[2]))
        }

        /// Times are less than the numbers that Redis' scores hold exactly.
        private static func time(_ text: Substring) -> Int? {
            Int(text).flatMap { (0..<1 << 53).contains($0) ? $0 : nil }
        }

        public var description: String {
            ["\(from)", "\(until)", job].joined(separator: Self.separator)
        }
    }
}
