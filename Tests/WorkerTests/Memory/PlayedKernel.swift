import Foundation
import MinilabTesting
import SystemPackage

@testable import RenderPool

/// A folder with the kernel's files about memory, as a test wants them.
struct PlayedKernel {
    private let folder: TemporaryFolder

    /// - Parameter files: their texts, by path without the first slash.
    init(_ files: [String: String]) throws {
        folder = try TemporaryFolder(inMemory: true)
        for (path, text) in files { try write(path, text) }
    }

    var root: FilePath { FilePath(folder.path) }

    var files: MemoryFiles { MemoryFiles(root: root) }

    func write(_ path: String, _ text: String) throws {
        let url = URL(filePath: folder.file(path))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
}
