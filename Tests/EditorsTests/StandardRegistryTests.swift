import Edits
import Editors
import Filters
import Foundation
import MinilabTesting
import Testing

@Suite("Standard registry") struct StandardRegistryTests {
    @Test func `the page jobs/EDITORS.md has a row for each format, with its versions`() throws {
        let page = try String(
            contentsOf: Repository.root.appending(path: "jobs/EDITORS.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|").prefix(2).map {
                $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
            }
        }
        let codecs = try EditorRegistry.standard().all.map { codec in
            let versions = codec.formatVersions
            let span =
                versions.count < 3 ? versions : [versions[0], "to", versions[versions.count - 1]]
            return [
                codec.formatIdentifier, span.joined(separator: versions.count < 3 ? ", " : " "),
            ]
        }
        #expect(rows == codecs)
    }

    @Test func `Color Tint is read under the identifier and version that it is given`() throws {
        let tinted = try EditorRegistry.standard(tint: ("com.example.tint", "3"))
        #expect(tinted.codec(of: "com.example.tint")?.formatVersions == ["3"])
    }

    @Test func `every codec reads the version that it writes`() throws {
        for codec in try EditorRegistry.standard().all {
            #expect(codec.formatVersions.contains(codec.writtenVersion))
        }
    }

    @Test(arguments: ["com.apple.photo", ""])
    func `Color Tint needs an identifier of its own`(_ identifier: String) {
        expect(.invalidValue, naming: "Color Tint") {
            try EditorRegistry.standard(tint: (identifier, "1.0"))
        }
    }

    @Test(arguments: [AppleVideo.video, .slowMotion])
    func `an edit of a video cannot be handled, and no recipe is written as one`(
        _ codec: AppleVideo
    ) throws {
        #expect(try codec.reason(Data("bplist00".utf8)).contains("video"))
        expect(.adjustmentDataNotEncodable, naming: codec.formatIdentifier) {
            try codec.write(try Recipe(filters: [try Filter("turn")]), for: .landscape)
        }
    }

    /// Every byte of every format is somebody else's.
    @Test func `random and damaged bytes never do more than fail`() throws {
        var generator = SeededGenerator()
        generator.printSeed()
        let registry = try EditorRegistry.standard(
            lookAlikes: true, tint: ("com.example.tint", "1"))
        for codec in registry.all {
            for length in [1, 7, 40, 300] {
                let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let answer = registry.open(
                    AdjustmentData(
                        formatIdentifier: codec.formatIdentifier,
                        formatVersion: codec.writtenVersion, data: Data(bytes)), of: .landscape)
                if case .canHandle(let recipe) = answer {
                    Issue.record("\(codec.formatIdentifier): \(bytes) is \(recipe.filters)")
                }
            }
        }
    }
}
