/// The id of a stream's entry: the time of its addition in milliseconds, and its number within that millisecond.
package struct StreamID: Comparable, Sendable, Hashable, CustomStringConvertible {
    package let milliseconds: UInt64
    package let number: UInt64

    /// The id before every entry.
    package static let beginning = StreamID(milliseconds: 0, number: 0)

    private init(milliseconds: UInt64, number: UInt64) {
        self.milliseconds = milliseconds
        self.number = number
    }

    /// Decodes `1763700000000-0`; the number may be left out, as in Redis.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let milliseconds = UInt64(parts[0]),
            let number = parts.count == 2 ? UInt64(parts[1]) : 0
        else { return nil }
        self.init(milliseconds: milliseconds, number: number)
    }

    package static func < (left: StreamID, right: StreamID) -> Bool {
        (left.milliseconds, left.number) < (right.milliseconds, right.number)
    }

    package var description: String { "\(milliseconds)-\(number)" }
}
