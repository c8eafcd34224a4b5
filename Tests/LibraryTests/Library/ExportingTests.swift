import Edits
import Editors
import Files
import FoundationEssentials
import MinilabTesting
import SystemPackage
import Testing

@testable import Library

@Suite("Exporting") struct ExportingTests {
    private let first = VersionName(revision: 1, fence: "1")
    private let second = VersionName(revision: 2, fence: "2")

    /// An asset with one edit.
    private func edited() async throws -> LibraryFixture {
        let f = try LibraryFixture()
        _ = try await f.publish(first, on: nil)
        return f
    }

    private func editor(_ formatIdentifier: String) throws -> any AdjustmentCodec {
        try #require(EditorRegistry.standard().codec(of: formatIdentifier))
    }

    private func photo(
        _ f: LibraryFixture, as codec: (any AdjustmentCodec)? = nil
    ) async throws -> ExportedPhoto {
        try await f.library.export(f.library.state(of: f.asset).current, of: f.asset, as: codec)
    }

    /// - Returns: the reports.
    @discardableResult
    private func export(
        _ photos: [ExportedPhoto], _ f: LibraryFixture, files: FileSystem = FileSystem()
    ) async throws -> [ExportReport] {
        try await Exporter(f.library, to: folder(f), files: files).export(photos).reports
    }

    private func folder(_ f: LibraryFixture) -> FilePath {
        FilePath(f.folder.path).appending("export")
    }

    private func names(_ f: LibraryFixture) throws -> [String] {
        try f.library.files.list(folder(f))
    }

    private func text(_ name: String, _ f: LibraryFixture) throws -> String {
        try String(contentsOfFile: folder(f).appending(name).string, encoding: .utf8)
    }

    @Test func `an edited photo is three files with the names that Apple's tools pair`()
        async throws
    {
        let f = try await edited()
        let reports = try await export([photo(f)], f)
        #expect(reports.map(\.files) == [["IMG_0001.JPG", "IMG_E0001.JPG", "IMG_0001.AAE"]])
        #expect(reports.map(\.notes) == [[]])
        #expect(try names(f) == ["IMG_0001.AAE", "IMG_0001.JPG", "IMG_E0001.JPG"])
        #expect(try text("IMG_0001.JPG", f) == "original" && text("IMG_E0001.JPG", f) == "pixels")
    }

    @Test func `renditions lie beside the render, and one without a file is named`() async throws {
        let f = try await edited()
        for name in ["web", "list-2x", "lost"] {
            let staged = StagedVersion(queue: "photos", job: name, fence: "9")
            let made = try StoredRendition.test(name, name, in: staged, f.library)
            _ = try await f.library.add([name: made], to: first, of: f.asset, from: staged)
        }
        try f.library.files.remove(
            f.library.folder(of: f.asset).sizes(of: first).appending("lost.avif"))
        let current = try await f.library.state(of: f.asset).current
        let photo = try await f.library.export(
            current, of: f.asset, as: nil, withRenditions: true)
        let report = try #require(try await export([photo], f).first)
        #expect(
            report.files == [
                "IMG_0001.JPG", "IMG_E0001-list-2x.AVIF", "IMG_E0001-web.AVIF", "IMG_E0001.JPG",
                "IMG_0001.AAE",
            ])
        #expect(report.notes == ["renditions without a file are left out: lost"])
        #expect(try text("IMG_E0001-web.AVIF", f) == "web")
        // Its name is taken by them, too.
        for name in ["IMG_0001.JPG", "IMG_E0001.JPG", "IMG_0001.AAE"] {
            try f.library.files.remove(folder(f).appending(name))
        }
        let next = try await export([photo], f).first
        #expect(next?.files.first == "IMG_0002.JPG" || next?.files.first == "IMG_0001.JPG")
        #expect(next?.files.contains("IMG_E0001-web.AVIF") == false)
    }

    @Test func `the sidecar is read by exiftool, and by us as the same edit`() async throws {
        let f = try await edited()
        try await export([photo(f)], f)
        let path = folder(f).appending("IMG_0001.AAE").string
        let reason = String(
            decoding: try Tool.run(
                "exiftool", ["-s", "-AdjustmentFormatIdentifier", "-FileType", path]),
            as: UTF8.self)
        #expect(reason.contains("AAE") && reason.contains("org.minilab.recipe"), "\(reason)")
        let sidecar = try AAESidecar(bytes: Data(contentsOf: URL(filePath: path)))
        let content = try #require(try await f.library.state(of: f.asset).current?.content)
        #expect(
            try EditorRegistry.standard().open(sidecar.adjustment, of: content.input.photo)
                == .canHandle(#require(content.recipe)))
    }

    @Test func `written in another app's format it is the same edit to that app's codec`()
        async throws
    {
        let f = try await edited()
        let codec = try editor("com.ebookfrenzy.photoext")
        try await export([photo(f, as: codec)], f)
        let path = folder(f).appending("IMG_0001.AAE").string
        let sidecar = try AAESidecar(bytes: Data(contentsOf: URL(filePath: path)))
        #expect(sidecar.adjustmentFormatIdentifier == codec.formatIdentifier)
        let content = try #require(try await f.library.state(of: f.asset).current?.content)
        guard
            case .canHandle(let recipe) = try EditorRegistry.standard()
                .open(sidecar.adjustment, of: content.input.photo)
        else {
            Issue.record("\(sidecar)")
            return
        }
        #expect(recipe.filters == content.recipe?.filters)
    }

    @Test func `a format that cannot state the edit is refused before anything is written`()
        async throws
    {
        let f = try await edited()
        // Apple's sample has sepia of intensity 1 alone.
        let failure = await #expect(throws: Failure.self) {
            try await photo(f, as: editor("com.example.apple-samplecode.SamplePhotosApp"))
        }
        #expect(failure?.code == .adjustmentDataNotEncodable)
    }

    @Test func `an unedited photo is its original alone`() async throws {
        let f = try LibraryFixture(asset: "DSC_0815.heic")
        try await export([photo(f)], f)
        #expect(try names(f) == ["DSC_0815.HEIC"])
    }

    @Test func `what is there is not overwritten: the photo gets a free number, which is reported`()
        async throws
    {
        let f = try await edited()
        try f.put("mine", at: folder(f).appending("IMG_E0001.PNG"))
        let reports = try await export([photo(f)], f)
        #expect(reports[0].files[0] == "IMG_0002.JPG")
        #expect(reports[0].notes == ["it is called IMG_0002 here"])
        #expect(try text("IMG_E0001.PNG", f) == "mine")
    }

    @Test func `an edit on another editor's render says that it cannot be changed elsewhere`()
        async throws
    {
        let f = try await edited()
        let staged = try await f.seal(second, on: first, text: "stacked", base: "pixels")
        _ = try await f.library.publish(second, of: f.asset, from: staged)
        let reports = try await export([photo(f)], f)
        #expect(reports[0].notes.contains { $0.contains("another editor's render") })
        let sidecar = try AAESidecar(
            bytes: Data(contentsOf: URL(filePath: folder(f).appending("IMG_0001.AAE").string)))
        #expect(sidecar.base == .adjusted)
    }

    @Test func `a file that appears meanwhile is not overwritten either, and nothing else is left`()
        async throws
    {
        let f = try await edited()
        try f.put("mine", at: folder(f).appending("IMG_E0001.JPG"))
        // What a crash has left: complete, with a name that somebody has taken since.
        let sealed = folder(f).appending(Exporter.sealed)
        for name in ["IMG_0001.AAE", "IMG_0001.JPG", "IMG_E0001.JPG"] {
            try f.put("ours", at: sealed.appending(name))
        }
        await #expect(throws: Failure.self) { try await export([photo(f)], f) }
        #expect(try names(f) == ["IMG_E0001.JPG"])
        #expect(try text("IMG_E0001.JPG", f) == "mine")
    }

    @Test
    func `after a crash at any file call no file is half there, and the next export ends the work`()
        async throws
    {
        var calls = 0
        while true {
            let f = try await edited()
            let faults = FaultInjection(afterCalls: calls)
            do {
                try await export([photo(f)], f, files: FileSystem(faults: faults))
            } catch let failure as Failure {
                #expect(failure.code == .ioFailure)
            }
            for name in try names(f) where !name.hasPrefix(".") {
                let whole = [
                    "IMG_0001.JPG": "original", "IMG_E0001.JPG": "pixels",
                    "IMG_0001.AAE": String(
                        decoding: try #require(await photo(f).edit).sidecar, as: UTF8.self),
                ]
                #expect(try text(name, f) == whole[name], "\(name) after \(calls) calls")
            }
            try await export([], f)
            let count = try names(f).count
            #expect(count == 0 || count == 3, "after \(calls) calls")
            guard faults.hasStruck else { break }
            calls += 1
        }
        #expect(calls > 10)
    }
}
