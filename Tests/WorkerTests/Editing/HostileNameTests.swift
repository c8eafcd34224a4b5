import Edits
import Foundation
import MinilabTesting
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

@Suite("Edits of assets with names that cannot be") struct HostileNameTests {
    private let bench: Workbench

    init() throws { bench = try Workbench(inMemory: true) }

    private func code(_ asset: AssetPath, _ edit: String) async throws -> FailureCode? {
        do {
            _ = try await bench.edit(asset, edit)
            return nil
        } catch let failure as Failure {
            return failure.code
        }
    }

    private func inodes() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: bench.library.root.string)
    }

    @Test(arguments: [
        #"{"mode":"discard"}"#, #"{"mode":"discard","version":"1-1"}"#, #"{"mode":"undo"}"#,
        #"{"mode":"redo"}"#, #"{"mode":"revert"}"#, #"{"mode":"publish"}"#,
        #"{"filters":[{"name":"CISepiaTone"}]}"#, #"{"mode":"render"}"#,
    ])
    func `leave nothing behind where there is no photo`(edit: String) async throws {
        let before = try inodes()
        for name in ["nobody.jpg", "a/b/c.jpg", "a.png/current", "a.png/versions/9-9"] {
            _ = try await code(AssetPath(name), edit)
        }
        #expect(try inodes() == before)
        await bench.pool.close()
    }

    @Test func `are refused before a render when an album took the name of a photo`() async throws {
        let photo = SyntheticPhoto.png(width: 32, height: 24)
        let asset = try bench.put("2024", photo)
        _ = try await bench.edit(asset, #"{"filters":[{"name":"CISepiaTone"}]}"#)
        let original = bench.library.originals.appending("2024")
        try FileManager.default.removeItem(atPath: original.string)
        for folder in ["drafts", "plain"] {
            try FileManager.default.createDirectory(
                atPath: original.appending(folder).string, withIntermediateDirectories: true)
        }
        let sepia = #"{"filters":[{"name":"CISepiaTone"}]}"#
        #expect(try await code(bench.put("2024/drafts/p.png", photo), sepia) == .invalidValue)
        #expect(try await code(bench.put("2024/plain/p.png", photo), sepia) == nil)
        #expect(try bench.library.staging.staged(in: "photos").isEmpty)
        await bench.pool.close()
    }

    @Test func `are refused for good when a name beside the original would be too long`()
        async throws
    {
        let photo = SyntheticPhoto.png(width: 32, height: 24)
        let sepia = #"{"filters":[{"name":"CISepiaTone"}],"output":{"format":"png"}}"#
        // 252 bytes and `.AAE` are one too many.
        let long = String(repeating: "é", count: 126)
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(bench.put(long + ".pn", photo), sepia)
        }
        #expect(failure?.code == .invalidValue && failure?.code.isPermanent == true)
        #expect(failure?.message.contains("255") == true)
        #expect(try bench.library.staging.staged(in: "photos").isEmpty)
        let short = String(repeating: "e", count: 251)
        #expect(try await code(bench.put(short + ".png", photo), sepia) == nil)
        #expect(
            try await code(
                bench.put(String(repeating: "e", count: 251), photo), #"{"mode":"revert"}"#)
                == nil)
        await bench.pool.close()
    }
}
