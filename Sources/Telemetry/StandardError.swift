import Glibc

/// Whole lines to standard error: one `write` each, so that lines of several threads do not mix.
public enum StandardError {
    /// Writes a line; the newline is added.
    public static func write(_ line: String) {
        var bytes = Array(line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        // Nobody could be told that standard error is gone.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Whether a person watches.
    public static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
