import CMinilab
import Glibc

/// The name, version and numbers of the renderer, for keys, provenance and logs.
public enum Engine {
    /// The version of minilab, as `minilab --version` prints it.
    public static let version = "0.4.0"

    /// The name and version in one text.
    public static let name = "minilab/\(version)"

    /// The number of all pixels and bytes that are ours. 1 is that of 0.5.0; provenances of earlier releases have none.
    ///
    /// Raise it whenever the same input makes another byte by our own code: a test compares pictures with committed digests. It is part
    /// of the keys by which renders are reused, so nothing that a lower number made is taken for what this one makes. Bytes that change
    /// because a library does are no reason: ``LibraryVersion`` tells them apart.
    public static let render = 1

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
