import Foundation

/// A private folder for one test; the last reference removes it.
public final class TemporaryFolder: Sendable {
    /// The absolute path, short enough for a Unix socket inside it.
    public let path: String

    /// Creates an empty folder.
    ///
    /// - Parameter inMemory: whether to use a folder in memory if the machine has one, where an fsync costs nothing.
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
        // If removal fails, the folder is left in the system's temporary folder. This is no failure of a test.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the path of `name` in the folder.
    public func file(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes a shell script that can be run, and returns its path.
    ///
    /// Another process writes it. A child that this one starts meanwhile would have a file that is open for writing, and the kernel
    /// runs no such file (ETXTBSY).
    public func script(_ name: String, _ lines: String) throws -> String {
        let draft = file(name + ".lines")
        try Data("#!/bin/sh\n\(lines)\n".utf8).write(to: URL(filePath: draft))
        _ = try Tool.run("/usr/bin/install", ["-m", "755", draft, file(name)])
        return file(name)
    }

    /// Returns the text of the file `name`; empty if there is no such file.
    public func text(of name: String) -> String {
        // The text is used only in failure messages.
        (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
    }
}
