import Edits
import Foundation
import MinilabTesting
import RenderProtocol
import Testing
import Codecs

@testable import Rendering

/// What asks for much is refused by its header, with the limit's name, in a real child.
@Suite("Bombs", .timeLimit(.minutes(10))) struct BombTests {
    /// Most memory that a child may have had, in bytes.
    private static let memoryMax = 64_000_000

    private func probe(_ child: Child, _ path: String, _ limits: RenderLimits = RenderLimits())
        throws -> Failure?
    {
        let reply = try child.ask(.inspect(path, limits: limits))
        guard case .refused(let failure) = reply else {
            Issue.record("\(path): \(String(describing: reply))")
            return nil
        }
        return failure
    }

    @Test func `each is refused with its limit's name, in little memory`() throws {
        let studio = try Studio()
        let child = try Child()
        for bomb in Bomb.allCases {
            let path = try studio.write(bomb.bytes, as: "\(bomb)")
            try FileHandle(forWritingTo: URL(filePath: path)).truncate(
                atOffset: UInt64(bomb.length))
            let failure = try probe(child, path)
            #expect(
                failure?.code == (bomb == .pixels ? .tooManyPixels : .exceedsLimit), "\(bomb)")
            #expect(
                failure?.message.contains(bomb.limit + " allows") == true,
                "\(bomb): \(String(describing: failure))")
        }
        #expect(try child.peakBytes() < Self.memoryMax)
    }

    @Test func `a file of more bytes than allowed is not read`() throws {
        let studio = try Studio()
        let path = try studio.write(Bomb.scans.bytes, as: "sparse.jpg")
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 5 << 30)
        let failure = try probe(Child(), path)
        #expect(failure?.message.contains("limit.bytes allows") == true)
    }

    @Test func `a render and a contact sheet refuse what a probe refuses`() throws {
        let studio = try Studio()
        let path = try studio.write(Bomb.frames.bytes, as: "a.gif")
        for longestSide in [nil, 64] {
            let failure = #expect(throws: Failure.self) {
                try studio.render(
                    path, Recipe(filters: [Filter("CISepiaTone")]), longestSide: longestSide)
            }
            #expect(failure?.code == .exceedsLimit)
        }
        let failure = #expect(throws: Failure.self) {
            try studio.drawContactSheet(
                ContactSheetRequest(cells: [.init(source: 0)], across: 1, cellSide: 64),
                of: [path], to: studio.path("sheet.jpg"))
        }
        #expect(failure?.code == .exceedsLimit)
    }

    @Test func `an edit is refused by the number of its filters, their reach and their result`()
        throws
    {
        let studio = try Studio()
        try TestPicture.image(width: 40, height: 30).writePNG(to: studio.path("a.png"))
        var limits = RenderLimits()
        limits.filtersMax = 1
        limits.radiusMax = 20
        limits.sideMax = 60
        let child = try Child()
        for (filters, limit) in [
            (["CISepiaTone", "CIColorInvert"], "limit.filters"),
            (["CIGaussianBlur:radius=10"], "limit.radius"),
            (["CILanczosScaleTransform:scale=2"], "limit.side"),
        ] {
            let recipe = try Recipe(filters: filters.map { try Filter(text: $0, at: "test") })
            let reply = try child.ask(.inspect(studio.path("a.png"), recipe, limits: limits))
            guard case .failed(let failure) = reply else {
                Issue.record("\(filters): \(String(describing: reply))")
                continue
            }
            #expect(failure.code == .exceedsLimit)
            #expect(failure.message.contains(limit + " allows"))
        }
    }

    @Test func `a limit that is raised lets through what it refused`() throws {
        let studio = try Studio()
        let path = try studio.write(Bomb.frames.bytes + [0x3B], as: "a.gif")
        var limits = RenderLimits()
        limits.framesMax = 20_000
        let reply = try Child().ask(.inspect(path, limits: limits))
        guard case .inspected(let found) = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        // libnsgif itself counts no further than some thousands.
        #expect(found.header.notes.first?.hasPrefix("the first of ") == true)
    }
}
