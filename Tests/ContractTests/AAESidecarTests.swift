import Edits
import Editors
import Foundation
import MinilabTesting
import Testing

@Suite("The .AAE file, read by tools that are not ours") struct AAESidecarTests {
    private func sidecar() throws -> (file: URL, folder: TemporaryFolder, recipe: Recipe) {
        let recipe = try Recipe(json: #"{"filters": [{"name": "CISepiaTone", "intensity": 0.8}]}"#)
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.file("IMG_0001.AAE"))
        let timestamp = Date(timeIntervalSince1970: 1_763_701_200)
        try AAESidecar(AdjustmentData(recipe), timestamp: timestamp).encoded().write(to: file)
        return (file, folder, recipe)
    }

    @Test func `python's plistlib reads every key with the type that Apple writes`() throws {
        let (file, folder, recipe) = try sidecar()
        let program = """
            import json, plistlib, sys
            sidecar = plistlib.load(open(sys.argv[1], "rb"), fmt=plistlib.FMT_XML)
            sidecar["adjustmentData"] = sidecar["adjustmentData"].decode()
            sidecar["adjustmentTimestamp"] = sidecar["adjustmentTimestamp"].isoformat()
            print(json.dumps(sidecar))
            """
        let output = try Tool.run("/usr/bin/python3", ["-c", program, file.path])
        let read = try JSONValue(parsing: String(decoding: output, as: UTF8.self), as: "sidecar")
        #expect(
            read.fields == [
                "adjustmentBaseVersion": .number(0),
                "adjustmentData": .string(recipe.json.canonical),
                "adjustmentEditorBundleID": .string("org.minilab.worker"),
                "adjustmentFormatIdentifier": .string("org.minilab.recipe"),
                "adjustmentFormatVersion": .string("1.0"),
                "adjustmentRenderTypes": .number(0),
                "adjustmentTimestamp": .string("2025-11-21T05:00:00"),
            ])
        withExtendedLifetime(folder) {}
    }

    @Test func `exiftool knows it as adjustment data`() throws {
        let (file, folder, _) = try sidecar()
        let output = try Tool.run("/usr/bin/exiftool", ["-json", file.path])
        let read = try JSONValue(parsing: String(decoding: output, as: UTF8.self), as: "tags")
        let tags = try #require(read.values?.first?.fields)
        #expect(tags["FileType"] == .string("AAE"))
        #expect(tags["MIMEType"] == .string("application/vnd.apple.photos"))
        #expect(tags["AdjustmentFormatIdentifier"] == .string("org.minilab.recipe"))
        #expect(tags["AdjustmentEditorBundleID"] == .string("org.minilab.worker"))
        withExtendedLifetime(folder) {}
    }

    @Test func `we read back what we wrote`() throws {
        let (file, folder, recipe) = try sidecar()
        let read = try AAESidecar(bytes: Data(contentsOf: file))
        #expect(read.adjustmentData == Data(recipe.json.canonical.utf8))
        let text = String(decoding: read.adjustmentData, as: UTF8.self)
        #expect(try Recipe(json: text) == recipe)
        withExtendedLifetime(folder) {}
    }
}
