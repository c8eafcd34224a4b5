/// A message for operators in the form that everybody may read: without paths of the server's files, and without calls of libraries.
///
/// Events have this form, because many read them that may not know the server; records of jobs, logs and bundles keep the message.
///
/// An absolute path is a word that begins with `/` and is longer than that, also inside quotes and brackets. It is replaced by
/// `…`. A slash inside a word, as in an asset's name or a fraction, and a URL are kept.
public enum PublicMessage {
    /// The characters after which a word begins.
    private static let openers: Set<Character> = [
        "\"", "'", "`", "(", "[", "{", "<", "=", ":", ",", "“", "‘", "«",
    ]
    private static let quotes: Set<Character> = ["\"", "'", "`"]
    /// The characters that end a path.
    private static let closers: Set<Character> = [
        "\"", "'", "`", ")", "]", "}", ">", ",", ";", "”", "’", "»",
    ]
    /// The characters at the end of a path that belong to the sentence.
    private static let points: Set<Character> = [".", ":", "!", "?"]

    /// Returns the message without calls and absolute paths.
    public static func of(_ message: String) -> String { withoutPaths(withoutCalls(message)) }

    /// Returns the message without calls of a library, such as `jpegsave_target(Q: 90, strip: true): `, as `VipsError` describes
    /// them. The library's own sentence follows such a call and is kept.
    private static func withoutCalls(_ message: String) -> String {
        guard message.contains("): ") else { return message }
        return message.replacing(#/\b[a-z][a-z0-9_]*\([^():]+: [^()]*\): /#, with: "")
    }

    private static func withoutPaths(_ message: String) -> String {
        guard message.contains("/") else { return message }
        var result = ""
        var rest = message[...]
        var before: Character = " "
        while let first = rest.first {
            if first == "/", before.isWhitespace || openers.contains(before),
                let next = rest.dropFirst().first, !next.isWhitespace, !closers.contains(next),
                !(before == ":" && next == "/")
            {
                var path = rest.prefix { !$0.isWhitespace && !closers.contains($0) }
                // A name in quotes may contain spaces.
                if quotes.contains(before), let end = rest.firstIndex(of: before) {
                    path = rest[..<end]
                }
                while let last = path.last, points.contains(last) { path = path.dropLast() }
                result += "…"
                rest = rest.dropFirst(path.count)
                before = "…"
            } else {
                result.append(first)
                before = first
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
