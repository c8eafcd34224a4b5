import Edits
import Foundation
import Library
import MinilabTesting
import SystemPackage
import Testing

@Suite("The disk of staged versions") struct StagingDiskTests {
    @Test func `is asked whether versions can be made there, and nothing stays of that`()
        async throws
    {
        let folder = try TemporaryFolder()
        let library = try LibraryFolder(root: FilePath(folder.path))
        try await library.reach()
        // Another program removed the folder.
        try FileManager.default.removeItem(atPath: folder.file("staging"))
        try await library.reach()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("staging")) == [])
        // A file where the folder was stands for a disk that takes none: a test of root is refused nothing.
        try FileManager.default.removeItem(atPath: folder.file("staging"))
        try Data().write(to: URL(filePath: folder.file("staging")))
        let failure = await #expect(throws: Failure.self) { try await library.reach() }
        #expect(failure?.code == .ioFailure)
    }
}
