import EntryPoints
import Foundation
import Testing

/// What ops/fuzz starts from, and what it once found, as any test run can take it.
@Suite("Entry points") struct SeedTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "ops/fuzzing/seeds")

    @Test(arguments: FuzzTarget.allCases) func `every seed is read or refused`(
        _ target: FuzzTarget
    ) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder.appending(path: target.rawValue), includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files { target.take(try Data(contentsOf: file)) }
    }
}
