import Edits
import Glibc

/// Writes whole lines to standard error: one `write` each, so that lines of several threads do not mix.
public enum StandardError {
    /// Writes a line with its control characters escaped; the newline is added.
    public static func write(_ line: String) { writeBytes(line.printable) }

    /// Writes several lines of the program's own; control characters are escaped in them, too.
    public static func write(block: String) { writeBytes(block.printableLines) }

    private static func writeBytes(_ text: String) {
        var bytes = Array(text.utf8)
        bytes.append(UInt8(ascii: "\n"))
        // There is no channel to report that standard error is gone.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Whether standard error is a terminal.
    public static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
