import Edits
import Files
import Foundation
import Logging
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import Editing
@testable import RenderPool

/// Who gets a text that was drawn for somebody else: nobody.
@Suite("Drawn texts of tenants") struct TextSharingTests {
    /// A pool whose text children a script plays: they draw nothing and write down each text.
    private struct Place {
        let folder: TemporaryFolder
        let pool: RenderPool

        init() throws {
            ignoreBrokenPipes()
            folder = try TemporaryFolder()
            let drawn = ScriptedReply.reply(
                #"{"drawn":{"_0":{"box":{"width":1,"height":1},"left":0,"top":0,"size":{"width":0,"height":0},"planes":0,"isReduced":false,"isCut":false,"hasSkipped":false,"isRestricted":false}}}"#
            )
            let path = try folder.script(
                "minilab-render-text",
                """
                while read line; do
                  case "$line" in
                  *'"confinement"'*) \(ScriptedReply.reply(#"{"confined":{"_0":{"gaps":[]}}}"#)) ;;
                  *) echo $$ >>"$0.texts"; \(drawn) ;;
                  esac
                done
                """)
            pool = RenderPool(
                settings: RenderSettings(
                    executable: FilePath(path).removingLastComponent().appending("minilab-render")),
                logger: Logger(label: "test"))
        }

        /// The children that drew the texts up to now, by their process.
        var drawers: [Substring] {
            folder.text(of: "minilab-render-text.texts").split(separator: "\n")
        }

        func draw(_ text: String, for owner: Owner, _ fonts: OwnedFonts) async throws {
            _ = try await pool.coverage(of: request(text), fonts, for: Borrower(owner))
        }

        private func request(_ text: String) -> TextRequest {
            let own = Mark.Text(
                text, fonts: [TextSharingTests.font], size: Mark.Length(millionths: 40_000_000))
            return TextRequest(
                Mark(.text(own), isInPixels: true), own, text: text,
                in: PixelSize(width: 800, height: 600))
        }
    }

    private static let font = "sha256:" + String(repeating: "a", count: 64)

    private func fonts(areOwn: Bool) throws -> OwnedFonts {
        OwnedFonts(
            [Self.font: try .inMemory(name: "a font")], ofOwner: areOwn ? [Self.font] : [])
    }

    @Test func `a text is kept for its owner and drawn anew for others`() async throws {
        let place = try Place()
        let common = try fonts(areOwn: false)
        let owners: [Owner] = [
            .tenant(try JobID("acme")), .tenant(try JobID("globex")), .operator, .photo("a"),
        ]
        for owner in owners + owners { try await place.draw("© Globex", for: owner, common) }
        #expect(place.drawers.count == owners.count)
        #expect(Set(place.drawers).count == owners.count)
        await place.pool.close()
    }

    @Test func `a text with a font that its owner may not use any more is asked of a child`()
        async throws
    {
        let place = try Place()
        let acme = Owner.tenant(try JobID("acme"))
        try await place.draw("x", for: acme, fonts(areOwn: false))
        try await place.draw("x", for: acme, fonts(areOwn: false))
        #expect(place.drawers.count == 1)
        // The child says which font is missing.
        try await place.draw("x", for: acme, OwnedFonts([:], ofOwner: []))
        #expect(place.drawers.count == 2)
        await place.pool.close()
    }

    @Test func `nothing is kept of a child that has met a font of one tenant`() async throws {
        let place = try Place()
        let acme = Owner.tenant(try JobID("acme"))
        let (common, own) = (try fonts(areOwn: false), try fonts(areOwn: true))
        for _ in 0..<2 { try await place.draw("x", for: acme, own) }
        #expect(place.drawers.count == 2)
        for _ in 0..<2 { try await place.draw("y", for: acme, common) }
        #expect(place.drawers.count == 4)
        #expect(Set(place.drawers).count == 1)
        await place.pool.endIdle()
        // Another child has met no such font.
        for _ in 0..<2 { try await place.draw("y", for: acme, common) }
        #expect(place.drawers.count == 5)
        await place.pool.close()
    }

    @Test func `a font of one tenant draws no text of another, also not after its own`()
        async throws
    {
        let bench = try Workbench()
        let data = try Data(contentsOf: URL(filePath: TestFont.latin.path))
        let own = data + Data("of globex".utf8)
        let hex = SHA256.hash(data: own).hex
        let folder = bench.resources + "/tenants/globex"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try own.write(to: URL(filePath: "\(folder)/\(hex)"))
        let edit = try Edit(
            json:
                #"{"filters":[],"renditions":{"a":{"box":[200,200],"marks":[{"text":"Private","fonts":["sha256:\#(hex)"],"size":0.1}]}}}"#
        )
        let rendition = try #require(edit.renditions.byName["a"])
        let request = try PhotoRequest(
            recipe: Recipe(filters: []), limits: RenderLimits(),
            outputs: [.init(rendition: rendition, name: "a")])
        func drawn(for owner: Owner) async throws -> Int {
            let (drawn, _, _) = try await bench.pool.drawTexts(
                of: request, RenderFiles(), on: PixelSize(width: 400, height: 400),
                for: Borrower(owner), in: bench.resources)
            return drawn.outputs.flatMap(\.texts).count
        }
        let (acme, globex) = (
            Owner.tenant(try JobID("acme")), Owner.tenant(try JobID("globex"))
        )
        for owner in [acme, globex, acme] {
            if owner == globex {
                #expect(try await drawn(for: owner) == 1)
            } else {
                let failure = await #expect(throws: Failure.self) { try await drawn(for: owner) }
                #expect(failure?.code == .missingResource)
            }
        }
        await bench.pool.close()
    }
}
