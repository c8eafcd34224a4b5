import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@Suite("Text children", .timeLimit(.minutes(5))) struct TextChildTests {
    private static let font = TestFont.latin.path
    private static let program = "minilab-render-text"

    private static func order(
        _ text: String, stroke: Double = 0, font: String = Self.font, digest: String? = nil,
        within size: PixelSize = PixelSize(width: 800, height: 600)
    ) throws -> (order: Order, output: OpenFile) {
        let file = try OpenFile(reading: font)
        let digest = try digest ?? "sha256:" + FileDigest.sha256(of: file).hex
        let own = Mark.Text(
            text, fonts: [digest], size: Mark.Length(millionths: 40_000_000))
        let mark = Mark(
            .text(own), isInPixels: true,
            stroke: stroke > 0
                ? Mark.Stroke(width: Mark.Length(millionths: Int(stroke * 1e6))) : nil)
        let output = try OpenFile.inMemory(name: "coverage")
        return (
            Order(
                work: .text(
                    TextRequest(mark, own, text: text, in: size)),
                files: RenderFiles(resources: [digest: file], outputs: [output])), output
        )
    }

    @Test("A text child draws one text after another into its output")
    func draws() throws {
        let child = try Child(executable: Self.program)
        for text in ["© Anna Müller", "AVATAR", "© Anna Müller"] {
            let (order, output) = try Self.order(text, stroke: 2)
            let reply = try child.ask(order)
            guard case .drawn(let coverage) = reply else {
                Issue.record("\(String(describing: reply))")
                continue
            }
            #expect(coverage.planes == 2)
            #expect(try output.length() == coverage.bytes)
            #expect(output.bytes(from: 0, count: coverage.bytes).max() == 255)
        }
    }

    @Test("A text child opens no file after it is confined, and makes no call with a path")
    func opensNothing() async throws {
        let folder = try TemporaryFolder()
        let record = folder.file("calls")
        let child = try Child(executable: Self.program, recordingCallsTo: record)
        _ = try child.ask(.confinement)
        for text in ["© Anna Müller", "ภาษาไทย", "a\nb"] {
            _ = try child.ask(Self.order(text).order)
        }
        child.closeInput()
        #expect(try await child.waitForEnd() == .exit(RenderExit.finished.rawValue))
        let calls = try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n")
        let entered = try #require(
            calls.lastIndex { $0.contains("seccomp(SECCOMP_SET_MODE_FILTER") })
        let after = calls[(entered + 1)...]
        #expect(after.count > 10)
        let withPaths = after.filter {
            $0.contains("open") || $0.contains("clone")
                // The C library asks for a descriptor's status: by an empty path, and from 2.39 on by fstat itself.
                || ($0.contains("stat") && !$0.contains("\"\"") && !$0.contains(" fstat("))
                || $0.contains("access") || $0.contains("readlink")
        }
        #expect(withPaths.isEmpty, "\(withPaths.joined(separator: "\n"))")
    }

    @Test("A text child is confined as a render child is")
    func isConfined() throws {
        let child = try Child(executable: Self.program)
        let photos = try Child()
        guard case .confined(let confinement) = try child.ask(.confinement),
            case .confined(let usual) = try photos.ask(.confinement)
        else {
            Issue.record("no answer")
            return
        }
        #expect(confinement.gaps.map(\.measure) == usual.gaps.map(\.measure))
    }

    @Test("A text child has hard limits of memory and of files before it reads a font")
    func hasHardLimits() throws {
        let child = try Child(executable: Self.program)
        _ = try child.ask(.confinement)
        let limits = try Child.limits(of: child.process.processIdentifier)
        #expect(limits["Max data size"] == 96 << 20)
        #expect(limits["Max file size"] == TextRequest.coverageBytesMax)
        #expect(limits["Max stack size"] == 8 << 20)
        let addresses = try #require(limits["Max address space"])
        #expect(((2 << 30)...(4 << 30)).contains(addresses))
    }

    @Test(
        "Numbers that no worker asks for are refused",
        arguments: [
            #""size":2147483648"#, #""size":-1"#, #""size":9223372036854775807"#,
            #""maxWidth":2147483648"#, #""stroke":-2147483649"#,
            #""within":{"height":600,"width":2147483648}"#,
            #""within":{"height":-1,"width":800}"#, #""index":-1"#, #""index":4294967296"#,
        ]) func refusesNumbers(change: String) throws
    {
        let child = try Child(executable: Self.program)
        let (order, _) = try Self.order("a")
        guard case .text(let text) = order.work else { return }
        let field = try #require(change.split(separator: ":").first)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(text), as: UTF8.self)
        let pattern = try Regex(field + #":(\{[^}]*\}|-?[0-9]+)"#)
        let changed = json.replacing(pattern, with: change)
        #expect(changed != json)
        let wrong = try JSONDecoder().decode(TextRequest.self, from: Data(changed.utf8))
        guard
            case .failed(let failure) = try child.ask(
                Order(work: .text(wrong), files: order.files))
        else {
            Issue.record("it was drawn, or ended its child")
            return
        }
        #expect(failure.code == .internalError)
    }

    @Test("A font whose content differs from its digest is refused")
    func refusesOtherFont() throws {
        let child = try Child(executable: Self.program)
        let wrong = "sha256:" + String(repeating: "0", count: 64)
        guard case .failed(let failure) = try child.ask(Self.order("a", digest: wrong).order) else {
            Issue.record("it was drawn")
            return
        }
        #expect(failure.code == .badResource)
    }

    @Test("A text child renders no photo, and a render child draws no text")
    func refusesOtherWork() throws {
        // It knows no filter either, so it takes the request for one of another version and ends.
        let reply = try Child(executable: Self.program).ask(.inspect(Self.font))
        if case .inspected = reply { Issue.record("it read a photo") }
        let drawn = try Child().ask(Self.order("a").order)
        if case .drawn = drawn { Issue.record("it drew a text") }
    }

    @Test(
        "A worker refuses coverage that no text can have",
        arguments: [
            TextCoverage(
                box: PixelSize(width: 0, height: 10), left: 0, top: 0,
                size: PixelSize(width: 1, height: 1), planes: 1),
            TextCoverage(
                box: PixelSize(width: 10, height: 10), left: 0, top: 0,
                size: PixelSize(width: 4000, height: 4000), planes: 1),
            TextCoverage(
                box: PixelSize(width: 10, height: 10), left: 0, top: 0,
                size: PixelSize(width: 1, height: 1), planes: 2),
            TextCoverage(
                box: PixelSize(width: 10, height: 10), left: 1 << 40, top: 0,
                size: PixelSize(width: 1, height: 1), planes: 1),
            TextCoverage(
                box: PixelSize(width: 10, height: 10), left: 0, top: 0,
                size: PixelSize(width: -2000, height: -2000), planes: 1),
        ]) func refusesCoverage(coverage: TextCoverage) throws
    {
        let order = try Self.order("a").order
        let request = RenderRequest(order.work, files: order.files.handed.map(\.role))
        let line = try LineFormat.encode(RenderReply(to: request.number, .drawn(coverage)))
        #expect(throws: BrokenReply.self) { try RenderReply(line, to: request) }
    }

    @Test("A text may be as wide as a rendition that has the size of its photo, and no wider")
    func acceptsWideCoverage() throws {
        let order = try Self.order("a", within: PixelSize(width: 30_000, height: 3_000)).order
        for (width, isAccepted) in [(30_000, true), (30_001, false)] {
            let request = RenderRequest(order.work, files: order.files.handed.map(\.role))
            let coverage = TextCoverage(
                box: PixelSize(width: width, height: 100), left: 0, top: 0,
                size: PixelSize(width: 20_000, height: 100), planes: 1)
            let line = try LineFormat.encode(RenderReply(to: request.number, .drawn(coverage)))
            if isAccepted {
                _ = try RenderReply(line, to: request)
            } else {
                #expect(throws: BrokenReply.self) { try RenderReply(line, to: request) }
            }
        }
    }
}
