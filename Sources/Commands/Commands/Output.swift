import Editing
import Edits
import Files
import FoundationEssentials
import Glibc
import JobQueue
import Synchronization
import SystemPackage
import Worker

/// Prints one line, with its control characters and line ends escaped.
///
/// This function shadows Swift's own `print` in this target, because names, messages and reasons from untrusted clients
/// go to a person's terminal here.
func print(_ line: some CustomStringConvertible) { Swift.print(line.description.printable) }

/// Prints several lines of our own. Text from untrusted clients must already be ``Swift/String/printable``, or it could
/// add lines; ``TextTable`` ensures this for its cells.
package func print(block: String, terminator: String = "\n") {
    Swift.print(block.printableLines, terminator: terminator)
}

/// Prints a value as JSON on standard output, for `--json`.
package func printJSON(_ value: some Encodable, pretty: Bool = true) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting =
        pretty
        ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        : [.sortedKeys, .withoutEscapingSlashes]
    print(json: String(decoding: try encoder.encode(value), as: UTF8.self))
}

/// Reads a small file of text that a flag names.
///
/// - Parameter what: the file for people, such as `the settings file`.
func readText(_ path: String, as what: String) throws(CommandError) -> String {
    let most = 1 << 20
    let bytes: [UInt8]
    do throws(Errno) { bytes = try SmallFile.bytes(path, atMost: most) } catch {
        throw CommandError("\(what) \(path) cannot be read: \(error).")
    }
    guard bytes.count <= most, let text = String(validating: bytes, as: UTF8.self) else {
        throw CommandError("\(what) \(path) is not UTF-8 text of at most \(most) bytes.")
    }
    return text
}

/// Prints JSON text. Control characters become JSON escapes.
func print(json: String) { Swift.print(json.printableJSON) }

/// A table of aligned columns: text to the left, numbers to the right.
struct TextTable {
    private var rows: [[String]]
    private let rightAligned: Set<Int>

    init(_ header: [String], rightAligned: Set<Int> = [], _ rows: [[String]] = []) {
        self.rows = ([header] + rows).map { $0.map(\.printable) }
        self.rightAligned = rightAligned
    }

    /// Adds a row, with the control characters in its cells escaped.
    mutating func add(_ row: [String]) { rows.append(row.map(\.printable)) }

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

/// Flushes standard output, so that the reader of a pipe sees the output so far.
func fflushStandardOutput() { fflush(nil) }

/// A line on a terminal with the completed part of a movie and an estimate of the remaining time.
final class MovieProgressLine: Sendable {
    private let start = ContinuousClock.now
    private let isShown = isatty(STDERR_FILENO) == 1
    private let last = Mutex(-1)

    func show(_ progress: MovieProgress) {
        let percent = 100 * progress.framesDone / progress.frames
        let isNew = last.withLock { last in
            defer { last = max(last, percent) }
            return percent > last
        }
        guard isShown, isNew, progress.framesDone > 0 else { return }
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let rest =
            elapsed * Double(progress.frames - progress.framesDone)
            / Double(progress.framesDone)
        write(
            "\r\(JobProgress(progress)), \(Int(rest.rounded())) s left   "
        )
    }

    func end() {
        guard isShown, last.withLock({ $0 >= 0 }) else { return }
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        // Standard error is closed, so an error cannot be reported.
        _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
}
