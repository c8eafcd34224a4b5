import Edits
import FoundationEssentials
import RenderProtocol
import TextChild

extension FuzzTarget {
    /// Draws a text by a font; an empty line has letters of several scripts. Checks that a worker believes what is said of the coverage.
    func readText(_ bytes: Data) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let line = String(validating: bytes[..<end], as: UTF8.self)
        else { return }
        let text = line.isEmpty ? Self.letters : line
        // Most inputs are rejected, which is the expected outcome.
        guard (try? Mark.Text.check(text, at: "text")) != nil, TextRaster.prepare() else { return }
        let font = "sha256:" + String(repeating: "0", count: 64)
        let own = Mark.Text(
            text, fonts: [font], size: Mark.Length(millionths: 30_000_000),
            maxWidth: Mark.Length(millionths: 200_000_000), missing: .skip)
        let mark = Mark(
            .text(own), isInPixels: true, turn: 10,
            stroke: Mark.Stroke(width: Mark.Length(millionths: 2_000_000)))
        let request = TextRequest(mark, own, text: text, in: PixelSize(width: 400, height: 300))
        guard let drawn = try? TextRaster.draw(request, fonts: [[UInt8](bytes[(end + 1)...])])
        else { return }
        let work = RenderRequest(.text(request), number: 1)
        precondition(
            (try? RenderReply(
                LineFormat.encode(RenderReply(to: 1, .drawn(drawn.coverage))), to: work))
                != nil)
        precondition(drawn.planes.allSatisfy { $0.count == drawn.coverage.size.pixels })
    }

    private static let letters = "© Anna Müller سنة नमस्ते ไทย"
}
