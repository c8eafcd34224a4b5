public import Edits

extension DeadReader {
    /// A position between two dead jobs: after the last job that was read.
    ///
    /// A client can receive it as opaque text and send it back; the text is checked. A position stays valid while jobs die, are
    /// replayed or are dropped, including the job that it names.
    public struct Position: Sendable, Equatable, CustomStringConvertible {
        /// The time of death of the last job that was read, or the time at which reading starts; ms since 1970.
        package let from: Int
        /// The time of death after which jobs are not read; ms since 1970.
        let until: Int
        /// The last job that was read; empty for none.
        let job: String

        /// The maximum length of the text. No text of a job is that long.
        static let textMax = 256
        private static let separator = ","

        init(from: Int, until: Int, job: String) {
            (self.from, self.until, self.job) = (from, until, job)
        }

        /// Decodes a position from text.
        ///
        /// - Throws: `invalidValue`.
        public init(_ text: String) throws(Failure) {
            let fields =
                text.utf8.count > Self.textMax
                ? []
                : text.split(
                    separator: Self.separator, maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, let from = Self.time(fields[0]),
                let until = Self.time(fields[1]),
                fields[2].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else {
                throw Failure(
                    .invalidValue,
                    "cursor \(String(text.prefix(80)).debugDescription) is none of a list of dead jobs; begin without "
                        + "one.")
            }
            self.init(from: from, until: until, job: String(fields[2]))
        }

        /// Returns the position behind another job of the same millisecond, or before the first one (nil), for a client that may
        /// not know the name of the last one. Jobs between both are inspected again.
        package func behind(_ job: String?) -> Position {
            Position(from: from, until: until, job: job ?? "")
        }

        /// Times are below the largest integer that Redis' scores represent exactly.
        private static func time(_ text: Substring) -> Int? {
            Int(text).flatMap { (0..<1 << 53).contains($0) ? $0 : nil }
        }

        public var description: String {
            ["\(from)", "\(until)", job].joined(separator: Self.separator)
        }
    }
}
