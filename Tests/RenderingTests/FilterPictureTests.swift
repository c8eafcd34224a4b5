import Edits
import Files
import Foundation
import MinilabTesting
import Testing

@testable import Rendering

@Suite("The pictures of jobs/FILTERS.md") struct FilterPictureTests {
    /// RMS in steps of 255. Other versions of libjpeg and libvips round otherwise; another edit differs by more.
    private static let differenceMax = 1.5
    /// RMS in steps of 255.
    private static let changeMin = 3.0

    private let folder = Contract.folder.appending(path: "filters")

    /// Each example, by the name of the filter that it shows.
    private func examples() throws -> [String: Recipe] {
        let text = try Contract.text("filters/examples.json")
        let examples = try #require(JSONValue(parsing: text, as: "examples").fields)
        return try examples.mapValues { filters in
            let output = #"{"quality": 0.45, "chroma": "4:2:0", "strip": "all"}"#
            return try Recipe(json: #"{"filters": \#(filters.canonical), "output": \#(output)}"#)
        }
    }

    @Test func `each filter has an example that uses it, and a picture of at most 10 KB`() throws {
        let examples = try examples()
        #expect(Set(examples.keys) == Set(FilterCatalogue.all.map(\.name)), "examples.json")
        for (name, recipe) in examples {
            #expect(
                recipe.filters.contains { $0.name == name || $0.maskName == name },
                "the example of \(name) does without it")
            let bytes = try #require(
                try picture(name).resourceValues(forKeys: [.fileSizeKey]).fileSize)
            #expect(bytes <= 10_000, "\(name)")
        }
    }

    @Test func `each picture is that of its example, and differs from the original`() throws {
        let studio = try Studio()
        let resources = studio.path("resources")
        try FileManager.default.createDirectory(
            atPath: resources, withIntermediateDirectories: true)
        for name in ["original.jpg", "hues.jpg", "split.cube"] {
            let file = folder.appending(path: name)
            let digest = try FileDigest.sha256(of: OpenFile(reading: file.path)).hex
            try FileManager.default.copyItem(atPath: file.path, toPath: "\(resources)/\(digest)")
        }
        let source = folder.appending(path: "original.jpg").path
        let original = try Picture(source)
        for (name, recipe) in try examples() {
            let render = try studio.render(source, recipe, resources: resources, stem: "fresh")
            let fresh = try Picture(studio.path(render.output.name))
            let shown = try Picture(picture(name).path)
            try #require(fresh.width == shown.width && fresh.height == shown.height, "\(name)")
            let difference = fresh.difference(from: shown).rms
            #expect(
                difference <= Self.differenceMax, "\(name) is not shown as it is; run ops/generate")
            if shown.width == original.width, shown.height == original.height {
                let change = shown.difference(from: original).rms
                #expect(change >= Self.changeMin, "the example of \(name) hardly shows it")
            }
        }
    }

    private func picture(_ name: String) -> URL {
        folder.appending(path: name.replacing(":", with: "-") + ".jpg")
    }
}

extension Filter {
    /// The generator of a `CIBlendWithMask`.
    fileprivate var maskName: String? {
        name == "CIBlendWithMask" ? generator("inputMaskImage").name : nil
    }
}
