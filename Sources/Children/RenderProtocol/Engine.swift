import CMinilab
import Glibc

/// The name, version and numbers of the renderer, for keys, provenance and logs.
public enum Engine {
    /// The version of minilab: that of the newest entry of CHANGELOG.md.
    public static let version = "0.6.0"

    /// The name and version in one text.
    public static let name = "minilab/\(version)"

    /// The number of all pixels and bytes that are ours. 1 is that of 0.5.0, 2 that of 0.6.0; provenances of earlier releases have none.
    ///
    /// Raise it whenever the same input makes another byte by our own code: a test compares pictures with committed digests. It is part
    /// of the keys by which renders are reused, so nothing that a lower number made is taken for what this one makes. Bytes that change
    /// because a library does are no reason: ``LibraryVersion`` tells them apart.
    public static let render = 2

    /// The commit that the program was built from, as 40 digits, with `+dirty` if the sources were others; nil for a program that
    /// `ops/release` has not built.
    ///
    /// It is for people alone. It is in no key, and a worker never compares it with its children's.
    public static let commit: String? = {
        var text = [CChar](repeating: 0, count: MINILAB_COMMIT_DIGITS + 2)
        minilab_commit_copy(&text)
        return commit(written: text.map { UInt8(bitPattern: $0) })
    }()

    /// Reads what `ops/release` has written into the program; nil for nothing.
    static func commit(written bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        guard !text.isEmpty else { return nil }
        return text.hasSuffix("+") ? text + "dirty" : text
    }

    /// The version and the commit, as `--version` prints them behind the name: `0.5.0 (3f1c…)`.
    public static let build = "\(version) (\(commit ?? "no commit"))"

    /// The line of `--version`.
    public static let versionLine = "minilab/\(build)"

    /// Prints the version and exits if that is what a child's program was started for by hand.
    public static func answerVersion(_ arguments: [String]) {
        guard arguments.dropFirst() == ["--version"] else { return }
        print(versionLine)
        exit(0)
    }
}

/// A library that a render child decodes or encodes with, or the child's program itself.
public struct LibraryVersion: Sendable, Codable, Equatable {
    /// The name that its project uses.
    public let name: String
    public let version: String

    /// The name of the child's program.
    public static let renderer = "minilab-render"

    /// Creates a record; control characters are removed from the texts, and long texts are cut.
    public init(name: String, version: String) {
        self.name = ReplyBounds.text(name)
        self.version = ReplyBounds.text(version)
    }
}

extension [LibraryVersion] {
    /// The versions by name.
    public var byName: [String: String] {
        Dictionary(map { ($0.name, $0.version) }) { first, _ in first }
    }
}
