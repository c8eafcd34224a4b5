import Adjustments
import FoundationEssentials
import Glibc

/// Prints one line; control characters in it, line ends too, are escaped.
///
/// It stands before Swift's own `print` in this target: names, messages and reasons of strangers go to a person's
/// terminal here.
func print(_ line: some CustomStringConvertible) { Swift.print(line.description.printable) }

/// Prints several lines of our own. What strangers wrote has to be ``Swift/String/printable`` in them already,
/// or they could add lines; ``TextTable`` sees to that for its cells.
package func print(block: String, terminator: String = "\n") {
    Swift.print(block.printableLines, terminator: terminator)
}

/// One value as JSON on standard output: what `--json` prints.
package func printJSON(_ value: some Encodable, pretty: Bool = true) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting =
        pretty
        ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        : [.sortedKeys, .withoutEscapingSlashes]
    print(json: String(decoding: try encoder.encode(value), as: UTF8.self))
}

/// Prints JSON text with its control characters as JSON's escapes.
func print(json: String) { Swift.print(json.printableJSON) }

/// Columns that line up: text to the left, numbers to the right.
struct TextTable {
    private var rows: [[String]]
    private let rightAligned: Set<Int>

    init(_ header: [String], rightAligned: Set<Int> = []) {
        rows = [header.map(\.printable)]
        self.rightAligned = rightAligned
    }

    /// Adds a row; control characters in its cells are escaped.
    mutating func add(_ row: [String]) { rows.append(row.map(\.printable)) }

    /// The table, one line per row.
    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, cell in
                let space = String(repeating: " ", count: widths[column] - cell.count)
                return rightAligned.contains(column) ? space + cell : cell + space
            }.joined(separator: "  ").trimmingTrailingSpaces
        }.joined(separator: "\n")
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}

/// Lets a reader at the other end of a pipe see what was printed so far.
func fflushStandardOutput() { fflush(nil) }
