public import Foundation

/// Files of this repository, which tests read where they lie.
public enum Repository {
    public static let root = URL(filePath: #filePath)
        .appending(path: "../../../..").standardizedFileURL

    /// A file of `Tests/Fixtures`.
    public static func fixture(_ name: String) -> URL {
        root.appending(path: "Tests/Fixtures/" + name)
    }
}

/// The files of `jobs/`.
public enum Contract {
    public static let toolFolder = URL(filePath: #filePath).deletingLastPathComponent()
    public static let folder = Repository.root.appending(path: "jobs")

    public static func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// Returns all files of a folder of examples, sorted by name.
    public static func examples(_ kind: String) throws -> [Example] {
        let url = folder.appending(path: "examples/\(kind)")
        return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted().map { name in
            Example(name: name, text: try text("examples/\(kind)/\(name)"))
        }
    }

    /// Returns all lines of the manifest that `ops/quickstart` runs.
    public static func quickstart() throws -> [Example] {
        try text("quickstart.ndjson").split(separator: "\n").enumerated().map { index, line in
            Example(name: "quickstart.ndjson:\(index + 1)", text: String(line))
        }
    }
}

/// A file of examples, or a line of one.
public struct Example: CustomStringConvertible {
    public let name: String
    public let text: String

    public init(name: String, text: String) { (self.name, self.text) = (name, text) }

    public var description: String { name }
}
