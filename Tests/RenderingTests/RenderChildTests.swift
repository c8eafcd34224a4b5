import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Codecs
@testable import Rendering

@Suite("Render child", .timeLimit(.minutes(10))) struct RenderChildTests {
    private func photo(_ studio: Studio, width: Int = 120, height: Int = 90) throws -> String {
        let path = studio.path("in.jpg")
        try TestPicture.image(width: width, height: height).writeJPEG(
            to: path, quality: 90, chroma: .on)
        return path
    }

    private func render(_ studio: Studio, _ source: String) throws -> Order {
        try .render(source, to: studio.path("out.jpg"))
    }

    @Test func `one child renders many photos, also after a failure`() async throws {
        let studio = try Studio()
        let source = try photo(studio)
        let empty = try studio.write([], as: "empty.jpg")
        let child = try Child()
        var digests: Set<String> = []
        for number in 0..<5 {
            guard case .rendered = try child.ask(render(studio, source)) else {
                Issue.record("photo \(number) was not rendered")
                continue
            }
            digests.insert(try FileDigest.sha256(of: studio.path("out.jpg")).hex)
            guard case .refused(let failure) = try child.ask(render(studio, empty)) else {
                Issue.record("an empty file was rendered")
                continue
            }
            #expect(failure.code == .emptyFile)
        }
        #expect(digests.count == 1)
        child.closeInput()
        #expect(try await child.waitForEnd() == .exit(RenderExit.finished.rawValue))
    }

    /// libvips decodes such strips and tiles by itself, makes grey pixels of damage, and calls that a success. It says so to the whole
    /// process, so the test has a process of its own.
    @Test(arguments: [false, true])
    func `a TIFF whose JPEG data are damaged inside is refused, and the next one is not`(
        isTiled: Bool
    ) throws {
        let studio = try Studio()
        let whole = studio.path("in.tif")
        try Codecs.Operation.perform(
            "tiffsave",
            [
                ("in", .image(try TestPicture.image(width: 400, height: 300))),
                ("filename", .string(whole)), ("compression", .string("jpeg")), ("Q", .int(90)),
                ("tile", .bool(isTiled)),
            ])
        var bytes = try [UInt8](Data(contentsOf: URL(filePath: whole)))
        let middle = bytes.count / 2
        bytes.replaceSubrange(
            middle..<middle + 400, with: [0xFF, 0xD9] + [UInt8](repeating: 0, count: 398))
        let damaged = try studio.write(bytes, as: "damaged.tif")
        let child = try Child()
        for _ in 0..<2 {
            guard case .failed(let failure) = try child.ask(render(studio, damaged)) else {
                Issue.record("a damaged file was rendered")
                continue
            }
            #expect(failure.code == .damagedPhoto, "\(failure)")
            guard case .rendered = try child.ask(render(studio, whole)) else {
                Issue.record("a whole file was refused")
                continue
            }
        }
    }

    @Test func `an inspection answers with header and plan`() throws {
        let studio = try Studio()
        let child = try Child()
        guard case .inspected(let found) = try child.ask(.inspect(photo(studio))) else {
            Issue.record("no answer")
            return
        }
        let header = found.header
        #expect(header.format == .jpeg && header.storedSize == PixelSize(width: 120, height: 90))
        #expect(found.plan.lane == .planes && found.plan.passes.count == 1)
    }

    @Test func `a request whose files did not come along is refused`() async throws {
        let studio = try Studio()
        let source = try photo(studio)
        let order = try render(studio, source)
        let child = try Child()
        let request = RenderRequest(order.work, files: order.files.handed.map(\.role))
        try child.send(LineFormat.encode(request))
        #expect(try await child.waitForEnd() == .exit(RenderExit.badRequest.rawValue))
    }

    @Test func `a request of another version ends the child`() async throws {
        let child = try Child()
        var text = String(
            decoding: try LineFormat.encode(RenderRequest(.confinement)), as: UTF8.self)
        let version = RenderRequest.version
        text = text.replacingOccurrences(
            of: "\"version\":\(version)", with: "\"version\":\(version + 1)")
        try child.send(Data(text.utf8))
        #expect(try await child.waitForEnd() == .exit(RenderExit.badRequest.rawValue))
    }

    @Test func `a line that is no request ends the child`() async throws {
        let child = try Child()
        try child.send(Data("hello\n".utf8))
        #expect(try await child.waitForEnd() == .exit(RenderExit.badRequest.rawValue))
    }

    @Test func `a contact sheet has as many pictures in a row as it is told`() throws {
        let studio = try Studio()
        let source = try photo(studio)
        let sheet = studio.path("sheet.jpg")
        let child = try Child()
        let cells = Array(repeating: ContactSheetRequest.Cell(source: 0), count: 4)
        let reply = try child.ask(
            Order(
                work: .contactSheet(ContactSheetRequest(cells: cells, across: 2, cellSide: 480)),
                files: RenderFiles(
                    sources: [try OpenFile(reading: source)],
                    outputs: [try OpenFile(writing: sheet)])))
        guard case .rendered = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        let picture = try Picture(sheet)
        #expect(picture.width == 2 * 120 + 12 && picture.height == 2 * 90 + 12)
    }

    @Test func `a child whose worker is gone in the middle of a render ends as orphan`()
        async throws
    {
        let studio = try Studio()
        let child = try Child(environment: [TestPoint.variable: TestPoint.midRender.rawValue])
        // Large enough that much is left to do when the first strip is computed.
        let source = try photo(studio, width: 3000, height: 2000)
        try child.send(render(studio, source))
        try await child.waitForStop()
        child.closeInput()
        kill(child.process.processIdentifier, SIGCONT)
        #expect(try await child.waitForEnd() == .exit(RenderExit.orphaned.rawValue))
    }

    @Test func `the points at which a test can stop a render are reached`() async throws {
        let studio = try Studio()
        let source = try photo(studio)
        for point in [TestPoint.midRender, .afterRender] {
            let child = try Child(environment: [TestPoint.variable: point.rawValue])
            try child.send(render(studio, source))
            try await child.waitForStop()
            kill(child.process.processIdentifier, SIGKILL)
            #expect(try await child.waitForEnd() == .signal(SIGKILL))
        }
    }
}
