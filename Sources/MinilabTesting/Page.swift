import Foundation

/// A page of documentation whose examples are tested.
public struct Page: Sendable, CustomStringConvertible {
    /// Its path below the repository's root.
    public let path: String
    /// Its text.
    public let text: String

    /// Reads a page.
    public init(_ path: String) throws {
        self.path = path
        text = try String(
            contentsOf: Contract.folder.appending(path: "../\(path)").standardizedFileURL,
            encoding: .utf8)
    }

    public var description: String { path }

    /// The blocks that are fenced as being of a language, the first one first.
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

    /// The commands of its `sh` blocks.
    public var commands: [Command] { blocks("sh").flatMap(Command.all) }

    /// A command for a shell, and what the page says was seen.
    public struct Command: Sendable, CustomStringConvertible {
        /// The command, over several lines where a quotation is open or a line ends with `\`.
        public let text: String
        /// The lines of comment that follow it, without `# `; empty when the page does not say.
        public private(set) var seen: [String] = []

        public var description: String { text }

        /// The edit that it sends, if it is one that sends a job.
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
