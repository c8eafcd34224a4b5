import Foundation

/// The files of `jobs/`.
enum Contract {
    static let testFolder = URL(filePath: #filePath).deletingLastPathComponent()
    static let folder = testFolder.appending(path: "../../jobs").standardizedFileURL

    static func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }

    /// Every file of a folder of examples, in the order of names.
    static func examples(_ kind: String) throws -> [Example] {
        let url = folder.appending(path: "examples/\(kind)")
        return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted().map { name in
            Example(name: name, text: try text("examples/\(kind)/\(name)"))
        }
    }

    /// Every line of the manifest that `ops/quickstart` runs.
    static func quickstart() throws -> [Example] {
        try text("quickstart.ndjson").split(separator: "\n").enumerated().map { index, line in
            Example(name: "quickstart.ndjson:\(index + 1)", text: String(line))
        }
    }
}

/// A file of examples, or a line of one.
struct Example: CustomStringConvertible {
    let name: String
    let text: String

    var description: String { name }
}
