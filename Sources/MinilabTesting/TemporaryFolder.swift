import Foundation

/// A folder of its own for one test; removed with the last reference to it.
public final class TemporaryFolder: Sendable {
    /// The absolute path, short enough for a Unix socket inside it.
    public let path: String

    /// Creates an empty folder.
    ///
    /// - Parameter inMemory: whether an fsync may be for free, where the machine has such a place.
    public init(inMemory: Bool = false) throws {
        let name = "minilab-\(UInt32.random(in: .min ... .max))"
        let memory = URL(filePath: "/dev/shm")
        let parent =
            inMemory && FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        let url = parent.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.path
    }

    deinit {
        // What cannot be removed stays in the temporary folder, and no test is wrong for it.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` in the folder.
    public func file(_ name: String) -> String {
        path + "/" + name
    }

    /// The text of the file `name`, or an empty one if there is no such file.
    public func text(of name: String) -> String {
        // Only used to make a failure's message better.
        (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
    }
}
