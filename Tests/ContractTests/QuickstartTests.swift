import Edits
import Foundation
import MinilabTesting
import Testing

@Suite("The quickstart's manifest") struct QuickstartTests {
    private func jobs() throws -> [JobRequest] {
        try Contract.quickstart().map { try JobRequest(json: $0.text) }
    }

    @Test func `every line fits the schema and is read`() throws {
        let lines = try Contract.quickstart()
        for (line, refusal) in zip(lines, try Schema.job().refusals(of: lines.map(\.text))) {
            #expect(refusal == nil, "\(line)")
            #expect(throws: Never.self, "\(line)") { try JobRequest(json: line.text) }
        }
    }

    @Test func `each job has an id of its own`() throws {
        let ids = try jobs().compactMap(\.id)
        #expect(ids.count >= 10)
        #expect(try ids.count == jobs().count)
        #expect(Set(ids).count == ids.count)
    }

    @Test func `five filters are used, and one edit was made on a preview`() throws {
        let steps = try jobs().compactMap { job in
            if case .replace(let steps) = job.edit.mode { steps } else { nil }
        }
        #expect(Set(steps.flatMap(\.filters).map(\.name)).count >= 5)
        #expect(steps.contains { $0.referenceSize != nil })
        #expect(steps.contains { $0.filters.count >= 3 })
    }

    @Test func `every photo is there, and its licence is named`() throws {
        let assets = Set(try jobs().map(\.asset.string))
        #expect(assets.count >= 5)
        let licences = try Contract.text("photos/LICENSES.md")
        for asset in assets {
            let url = Contract.folder.appending(path: asset)
            #expect(FileManager.default.fileExists(atPath: url.path), "\(asset)")
            #expect(licences.contains("`\(url.lastPathComponent)`"), "\(asset)")
        }
    }

    /// What the quickstart promises to show: a large photo, a turned one, HEIC, and alpha.
    @Test func `the photos are of the kinds that are promised`() throws {
        let photos = Set(try jobs().map { Contract.folder.appending(path: $0.asset.string).path })
        let output = try Tool.run(
            "/usr/bin/exiftool",
            [
                "-json", "-n", "-ImageWidth", "-ImageHeight", "-Orientation", "-FileType",
                "-ColorType",
            ]
                + photos.sorted())
        let facts = try #require(
            JSONValue(parsing: String(decoding: output, as: UTF8.self), as: "facts").values)
        func holds(_ name: String, _ value: JSONValue) -> Bool {
            facts.contains { $0.fields?[name] == value }
        }
        #expect(
            facts.contains { photo in
                let sides = ["ImageWidth", "ImageHeight"].compactMap { photo.fields?[$0]?.double }
                return sides.reduce(1, *) >= 12_000_000
            })
        #expect(holds("FileType", .string("HEIC")))
        #expect(
            facts.contains {
                $0.fields?["FileType"] == .string("JPEG") && $0.fields?["Orientation"] == .number(6)
            })
        #expect(holds("ColorType", .number(6)), "PNG colour type 6: RGB with alpha")
    }
}
