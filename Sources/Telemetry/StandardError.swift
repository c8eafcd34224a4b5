import Adjustments
import Glibc

/// Whole lines to standard error: one `write` each, so that lines of several threads do not mix.
public enum StandardError {
    /// Writes a line with its control characters escaped; the newline is added.
    public static func write(_ line: String) { writeBytes(line.printable) }

    /// Writes several lines of our own; in them, too, control characters are escaped.
    public static func write(block: String) { writeBytes(block.printableLines) }

    private static func writeBytes(_ text: String) {
        var bytes = Array(text.utf8)
        bytes.append(UInt8(ascii: "\n"))
        // Nobody could be told that standard error is gone.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Whether a person watches.
    public static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
