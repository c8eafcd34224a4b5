import Foundation

/// A page of documentation with tested examples.
public struct Page: Sendable, CustomStringConvertible {
    /// The path below the repository's root.
    public let path: String
    /// The text of the page.
    public let text: String

    /// Reads a page.
    public init(_ path: String) throws {
        self.path = path
        text = try String(
            contentsOf: Contract.folder.appending(path: "../\(path)").standardizedFileURL,
            encoding: .utf8)
    }

    public var description: String { path }

    /// Returns the fenced blocks of a language, in order.
    public func blocks(_ language: String) -> [String] {
        var blocks: [String] = []
        var open: (language: String, lines: [Substring])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let block = open {
                if line == "```" {
                    if block.language == language {
                        blocks.append(block.lines.joined(separator: "\n"))
                    }
                    open = nil
                } else {
                    open?.lines.append(line)
                }
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), [])
            }
        }
        return blocks
    }

    /// The commands of the `sh` blocks.
    public var commands: [Command] { blocks("sh").flatMap(Command.all) }

    /// A shell command, and its output according to the page.
    public struct Command: Sendable, CustomStringConvertible {
        /// The command. It has several lines if a quotation is open or a line ends with `\`.
        public let text: String
        /// The comment lines after it, without `# `; empty if the page shows no output.
        public private(set) var seen: [String] = []

        public var description: String { text }

        /// The edit in the command, if the command sends a job.
        public var edit: String? {
            guard text.hasPrefix("redis-cli"), text.contains("XADD"),
                let start = text.range(of: "edit '")?.upperBound,
                let end = text[start...].firstIndex(of: "'")
            else { return nil }
            return String(text[start..<end])
        }

        static func all(of block: String) -> [Command] {
            var commands: [Command] = []
            var open = ""
            for line in block.split(separator: "\n") {
                if open.isEmpty, line.hasPrefix("# ") {
                    if !commands.isEmpty {
                        commands[commands.count - 1].seen.append(String(line.dropFirst(2)))
                    }
                    continue
                }
                open += open.isEmpty ? line : "\n" + line
                let isWhole = open.count(where: { $0 == "'" }).isMultiple(of: 2)
                if isWhole, !open.hasSuffix("\\") {
                    commands.append(Command(text: open))
                    open = ""
                }
            }
            return commands
        }
    }
}
