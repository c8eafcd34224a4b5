package import Edits

/// A line of a list of jobs that is no job: it is told, and the other lines run.
package struct RefusedLine: Sendable, Encodable, CustomStringConvertible {
    /// The number of the line, from 1.
    package let line: Int
    /// The fault.
    package let error: Failure

    package init(line: Int, error: Failure) { (self.line, self.error) = (line, error) }

    /// The most refused lines of one list that are told one by one; the rest are counted.
    package static let toldMax = 1_000

    package var description: String { "line \(line): \(error)" }
}

/// The refused lines of one list.
package struct RefusedLines: Sendable, Encodable {
    /// The first ``RefusedLine/toldMax`` of them, in their order.
    package private(set) var lines: [RefusedLine] = []
    /// The number of all of them.
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package mutating func add(_ error: Failure, line: Int) {
        count += 1
        if lines.count < RefusedLine.toldMax { lines.append(RefusedLine(line: line, error: error)) }
    }

    /// Returns a sentence for each line, and one for those beyond `most`.
    package func sentences(atMost most: Int) -> [String] {
        let told = lines.prefix(most).map(\.description)
        return count > told.count ? told + ["… and \(count - told.count) more"] : told
    }
}
