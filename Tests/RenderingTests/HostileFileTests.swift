import Edits
import Foundation
import MinilabTesting
@testable import Rendering
import RenderProtocol
import Testing
import Codecs

/// Files that others' decoders stumbled over, through a real child.
@Suite("Hostile files", .timeLimit(.minutes(60))) struct HostileFileTests {
    private static let folders =
        [Studio.fixture("Hostile")] + (Studio.corpus.map { [$0 + "/hostile"] } ?? [])

    @Test(arguments: folders)
    func `every one is a picture or a typed failure, and the next one is served`(_ folder: String)
        async throws
    {
        let studio = try Studio()
        let good = studio.path("good.jpg")
        try TestPicture.image(width: 40, height: 30).writeJPEG(to: good, quality: 90, chroma: .on)
        var child = try Child()
        var answers = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() {
            let path = folder + "/" + name
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            if isFolder.boolValue { continue }
            answers += 1
            switch try child.ask(render(path, studio)) {
            case .rendered: break
            case .failed(let failure), .refused(let failure):
                #expect(failure.code != .internalError, "\(name): \(failure)")
            case .none:
                // A worker takes a new one, and calls it a crash.
                let end = try await child.waitForEnd()
                Issue.record("\(name): the child ended: \(end)")
                child = try Child()
            default: Issue.record("\(name): an answer of another kind")
            }
        }
        #expect(answers > 10)
        guard case .rendered = try child.ask(render(good, studio)) else {
            Issue.record("a good photo was not rendered")
            return
        }
    }

    private func render(_ source: String, _ studio: Studio) throws -> Order {
        try .render(source, to: studio.path("out"))
    }

    /// An ICC profile says where its parts are and how long they are: any of it may be wrong.
    @Test(arguments: ["DisplayP3-v4.icc", "AdobeCompat-v4.icc"])
    func `a profile that was tampered with is read or left`(_ name: String) throws {
        var random = SeededGenerator()
        random.printSeed()
        let profile = try Picture.file(Studio.fixture(name))
        var read = 0
        for _ in 0..<20_000 {
            var bytes = profile
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] =
                    [0, 1, 0x7F, 0x80, 0xFF, .random(in: 0...255, using: &random)]
                    .randomElement(using: &random) ?? 0
            }
            bytes.removeLast(Int.random(in: 0..<9, using: &random) == 0 ? bytes.count / 2 : 0)
            if let known = ICCMatrixProfile(bytes), PhotoColour(known) != nil { read += 1 }
        }
        // Most of the bytes are numbers, which may be others.
        #expect(read > 1_000)
    }
}
