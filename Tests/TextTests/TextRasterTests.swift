import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import TextChild

extension TestFont {
    var bytes: [UInt8] { get throws { Array(try Data(contentsOf: URL(filePath: path))) } }

    var sample: String {
        switch self {
        case .latin: "© Anna Müller AVATAR"
        case .arabic: "السلام عليكم"
        case .hebrew: "שלום עולם"
        case .thai: "ภาษาไทยง่ายมาก"
        case .devanagari: "नमस्ते क्षत्रिय हिन्दी"
        }
    }
}

/// Draws a text as the tests want it.
func drawn(
    _ text: String, _ scripts: [TestFont], size: Double = 64, maxWidth: Double = 0,
    stroke: Double = 0, turn: Double = 0, at: String = "west",
    within: PixelSize = PixelSize(width: 4000, height: 4000), missing: Mark.Text.Missing = .fail,
    overflow: Mark.Text.Overflow = .cut, language: String? = nil
) throws -> TextRaster.Drawn {
    try TextRaster.draw(
        request(
            text, scripts, size: size, maxWidth: maxWidth, stroke: stroke, turn: turn, at: at,
            within: within, missing: missing, overflow: overflow, language: language),
        fonts: scripts.map { try $0.bytes })
}

func request(
    _ text: String, _ scripts: [TestFont], size: Double = 64, maxWidth: Double = 0,
    stroke: Double = 0, turn: Double = 0, at: String = "west",
    within: PixelSize = PixelSize(width: 4000, height: 4000), missing: Mark.Text.Missing = .fail,
    overflow: Mark.Text.Overflow = .cut, language: String? = nil
) throws -> TextRequest {
    func length(_ pixels: Double) -> Mark.Length {
        Mark.Length(millionths: Int((pixels * 1e6).rounded()))
    }
    let own = Mark.Text(
        text,
        fonts: try scripts.map { "sha256:" + SHA256.hash(data: try $0.bytes).hex },
        size: length(size), maxWidth: maxWidth > 0 ? length(maxWidth) : nil, language: language,
        missing: missing, overflow: overflow)
    let mark = Mark(
        .text(own), at: try #require(Focus.named[at]), isInPixels: true, turn: turn,
        stroke: stroke > 0 ? Mark.Stroke(width: length(stroke)) : nil)
    return TextRequest(mark, own, text: text, in: within)
}

@Suite("Texts as coverage") struct TextRasterTests {
    private static let prepared = TextRaster.prepare()

    init() { #expect(Self.prepared) }

    @Test("Glyphs and advances are those of hb-shape", arguments: TestFont.allCases)
    func shapesAsHarfBuzz(script: TestFont) throws {
        // hb-shape's sizes are whole pixels: 64 × 26.6.
        let judged = try Tool.run(
            "/usr/bin/hb-shape",
            [
                "--no-glyph-names", "--font-size=4096", "--no-clusters", "--output-format=text",
                "--font-funcs=ot", script.path, script.sample,
            ])
        let text = String(decoding: judged, as: UTF8.self)
        let glyphs = text.trimmingCharacters(in: CharacterSet(charactersIn: "[]\n"))
            .split(separator: "|").map { $0.split(separator: "+") }
        let ours = try drawn(script.sample, [script]).glyphs
        #expect(ours.count == glyphs.count)
        for (own, judge) in zip(ours, glyphs) {
            let number = judge[0].split(separator: "@")[0]
            #expect("\(own.number)" == number)
            #expect("\(own.advance)" == judge[1])
        }
    }

    @Test("Letters lie where their outlines do, at each pen's rest", arguments: [0.0, 30, 90])
    func placesWithinHalfAPixel(turn: Double) throws {
        for size in [9.0, 24, 24.015625, 24.1, 24.5, 64] {
            for text in ["Hill", "AV", "שלום"] {
                let fonts: [TestFont] = [.latin, .hebrew]
                // Drawn 16 times as large, pixels are a sixteenth: their middle judges, from the baseline's start.
                let large = try drawn(
                    text, fonts, size: size * 16, within: PixelSize(width: 16_000, height: 16_000))
                let small = try drawn(text, fonts, size: size, turn: turn)
                let middle = Self.middle(large)
                let baseline = try #require(small.glyphs.first).y
                let above = try #require(large.glyphs.first).y
                let box = small.coverage.box
                let (right, down) = (
                    middle.x / 16 - Double(box.width) / 2,
                    (middle.y + Double(above) / 64) / 16 - Double(baseline) / 64
                        - Double(box.height) / 2
                )
                let (cosine, sine) = Rotation.of(turn)
                let turned = box.turned(by: turn)
                let expected = (
                    x: Double(turned.width) / 2 + cosine * right + sine * down,
                    y: Double(turned.height) / 2 - sine * right + cosine * down
                )
                let found = Self.middle(small)
                #expect(
                    abs(found.x - expected.x) <= 0.1 && abs(found.y - expected.y) <= 0.1,
                    "\(text) \(size): \(found) \(expected)")
            }
        }
    }

    /// Returns the middle of the coverage, from the top left of the unturned box's place.
    private static func middle(_ drawn: TextRaster.Drawn) -> (x: Double, y: Double) {
        let size = drawn.coverage.size
        var (x, y, sum) = (0.0, 0.0, 0.0)
        for row in 0..<size.height {
            for column in 0..<size.width {
                let weight = Double(drawn.planes[0][row * size.width + column])
                x += weight * (Double(column) + 0.5)
                y += weight * (Double(row) + 0.5)
                sum += weight
            }
        }
        return (x / sum + Double(drawn.coverage.left), y / sum + Double(drawn.coverage.top))
    }

    @Test("Texts with and without descenders share a baseline and a box's height")
    func sharesBaseline() throws {
        let (low, high) = (try drawn("ag", [.latin]), try drawn("AG", [.latin]))
        #expect(low.coverage.box.height == high.coverage.box.height)
        #expect(low.glyphs[0].y == high.glyphs[0].y)
        #expect(low.coverage.top > high.coverage.top)
    }

    @Test("A name from right to left stands in visual order, and its number from left to right")
    func ordersBothDirections() throws {
        let text = "Anna שלום 12"
        let glyphs = try drawn(text, [.latin, .hebrew]).glyphs
        let order = glyphs.sorted { $0.x < $1.x }.map { Array(text.unicodeScalars)[$0.cluster] }
        #expect(String(String.UnicodeScalarView(order)) == "Anna 12 םולש")
    }

    @Test("A cluster takes the first font that has all its characters")
    func fallsBack() throws {
        let glyphs = try drawn("a שלום", [.latin, .hebrew]).glyphs
        #expect(Set(glyphs.map(\.font)) == [0, 1])
        #expect(try drawn("ab", [.hebrew, .latin]).glyphs.allSatisfy { $0.font == 1 })
        // One glyph, though the font has the accent and the letter alone, too.
        #expect(try drawn("e\u{301}", [.latin]).glyphs.count == 1)
    }

    @Test(
        "Spaces and letters that HarfBuzz makes are drawn as it makes them",
        arguments: [0x202F, 0x2009, 0x2007, 0x2002, 0x3000, 0x212B, 0x2126, 0x00A0])
    func drawsWhatIsMade(code: Int) throws {
        let scalar = try #require(Unicode.Scalar(code))
        // A part of the font with letters and the space alone.
        let folder = try TemporaryFolder()
        let path = folder.file("part.ttf")
        _ = try Tool.run(
            "/usr/bin/hb-subset",
            ["--unicodes=20,41,42,C5,3A9", "--output-file=\(path)", TestFont.latin.path])
        let font = Array(try Data(contentsOf: URL(filePath: path)))
        let text = "A\(scalar)B"
        let judged = String(
            decoding: try Tool.run(
                "/usr/bin/hb-shape",
                [
                    "--no-glyph-names", "--font-size=4096", "--no-clusters", "--font-funcs=ot",
                    path, text,
                ]),
            as: UTF8.self)
        let glyphs = judged.trimmingCharacters(in: CharacterSet(charactersIn: "[]\n"))
            .split(separator: "|").map(String.init)
        let ours = try TextRaster.draw(request(text, [.latin]), fonts: [font]).glyphs
        #expect(ours.map { "\($0.number)+\($0.advance)" } == glyphs)
    }

    @Test("Invisible characters have no shape, and part no letters")
    func drawsInvisible() throws {
        let plain = try drawn("Fotostudio", [.latin])
        let all = [
            "\u{AD}", "\u{200B}", "\u{FEFF}", "\u{2060}", "\u{200E}", "\u{115F}", "\u{1160}",
            "\u{3164}", "\u{FFA0}", "\u{FFF9}", "\u{FFFA}", "\u{FFFB}",
        ]
        for invisible in all {
            let own = try drawn("Foto\(invisible)studio", [.latin])
            #expect(own.planes == plain.planes, "\(invisible.unicodeScalars)")
        }
        // The second font draws, and its letters stay joined.
        let joined = try drawn("سلام", [.latin, .arabic])
        #expect(try drawn("سل\u{AD}ام", [.latin, .arabic]).planes == joined.planes)
        #expect(try drawn("aaaa\u{AD}aaaa", [.latin], maxWidth: 200).lines == 2)
        // An isolate says nothing of the direction of the line, so its first letter after it does, as a mark of direction does.
        let isolated = try drawn("\u{2068}שלום\u{2069} Anna", [.latin, .hebrew])
        #expect(isolated.planes == (try drawn("\u{200E}שלום Anna", [.latin, .hebrew])).planes)
    }

    @Test(
        "A line is as high as the fonts that draw in it, whichever is named first",
        arguments: [TestFont.arabic, .hebrew, .thai, .devanagari])
    func measuresLines(script: TestFont) throws {
        let own = try drawn(script.sample, [script])
        let second = try drawn(script.sample, [.latin, script])
        let first = try drawn("Anna", [.latin])
        #expect(
            second.coverage.box.height >= max(own.coverage.box.height, first.coverage.box.height))
        // No ink beyond the box, as far as the script's own font keeps within it.
        #expect(second.coverage.top >= min(own.coverage.top, 0))
        let lines = try drawn("Anna\n\(script.sample)\nAnna", [.latin, script])
        #expect(
            lines.coverage.box.height >= 2 * first.coverage.box.height + own.coverage.box.height)
        #expect(try drawn("Anna", [.latin, script]).coverage.box == first.coverage.box)
    }

    @Test(
        "A character that no font has fails with its name, or is left out",
        arguments: ["😀", "中", "ש"])
    func reportsMissing(character: String) throws {
        let failure = #expect(throws: Failure.self) {
            try drawn("a\(character)b", [.latin])
        }
        #expect(failure?.code == .missingGlyph)
        let scalar = try #require(character.unicodeScalars.first)
        let name = "U+" + String(format: "%04X", scalar.value)
        #expect(failure?.message.contains(name) == true, "\(failure?.message ?? "")")
        let skipped = try drawn("a\(character)b", [.latin], missing: .skip)
        #expect(skipped.coverage.hasSkipped)
        #expect(skipped.glyphs.count == 2)
        #expect(try drawn(character, [.latin], missing: .skip).coverage.size.pixels == 0)
    }

    @Test("Lines are broken at the longest width, at words, and within a word that is too long")
    func breaksLines() throws {
        let broken = try drawn("aaa bbb ccc", [.latin], maxWidth: 260)
        #expect(broken.lines == 2)
        #expect(broken.coverage.box.width <= 260)
        let word = try drawn("aaaaaaaaaaaa", [.latin], maxWidth: 100)
        #expect(word.lines == 6)
        #expect(word.coverage.box.width <= 100)
        #expect(try drawn("a\nb\n\nc", [.latin]).lines == 4)
    }

    @Test("Thai is broken between its words")
    func breaksThai() throws {
        let broken = try drawn("ภาษาไทยง่ายมาก", [.thai], maxWidth: 200)
        #expect(broken.lines > 1)
        // "ภาษา" is the first word: four characters.
        #expect(broken.glyphs.filter { $0.line == 0 }.map(\.cluster).max() ?? 0 >= 3)
    }

    @Test("Too many lines end with an ellipsis, or fail")
    func cutsLines() throws {
        let text = (0..<40).map { "w\($0)" }.joined(separator: " ")
        let cut = try drawn(text, [.latin], size: 20, maxWidth: 60)
        #expect(cut.coverage.isCut)
        #expect(cut.lines == 10)
        let failure = #expect(throws: Failure.self) {
            try drawn(text, [.latin], size: 20, maxWidth: 60, overflow: .fail)
        }
        #expect(failure?.code == .exceedsLimit)
    }

    @Test(
        "A text that is larger than the rendition is reduced to fit",
        arguments: [
            (PixelSize(width: 200, height: 2000), 0.0), (PixelSize(width: 2000, height: 30), 0.0),
            (PixelSize(width: 100, height: 100), 45.0), (PixelSize(width: 3, height: 2), 0.0),
            (PixelSize(width: 1, height: 1), 0.0),
        ]) func fits(rendition: PixelSize, turn: Double) throws
    {
        let small = try drawn("Copyright", [.latin], turn: turn, within: rendition)
        #expect(small.coverage.isReduced)
        let box = small.coverage.box.turned(by: turn)
        // Letters of a pixel are the smallest ones.
        #expect(
            (box.width <= rendition.width && box.height <= rendition.height) || small.size == 64)
    }

    @Test("Lines lie at the side at which the mark lies")
    func alignsLines() throws {
        for (at, share) in [("west", 0), ("center", 1), ("east", 2)] {
            let lines = try drawn("wwww\ni", [.latin], at: at)
            let short = try #require(lines.glyphs.first { $0.line == 1 })
            let spare =
                lines.glyphs.filter { $0.line == 0 }.map(\.advance).reduce(0, +) - short.advance
            #expect(abs(short.x - spare * share / 2) <= 1)
        }
    }

    @Test("A stroke surrounds the letters on all sides")
    func strokes() throws {
        let plain = try drawn("o", [.latin])
        let stroked = try drawn("o", [.latin], stroke: 3)
        #expect(stroked.planes.count == 2)
        #expect(stroked.coverage.left <= plain.coverage.left - 3)
        #expect(stroked.coverage.size.height >= plain.coverage.size.height + 6)
        for (fill, outer) in zip(stroked.planes[0], stroked.planes[1]) { #expect(outer >= fill) }
    }

    @Test("Too much coverage is refused")
    func refusesHugeText() {
        let failure = #expect(throws: Failure.self) {
            try drawn("W", [.latin], size: 8000, within: PixelSize(width: 16_000, height: 16_000))
        }
        #expect(failure?.code == .exceedsLimit)
    }

    @Test(
        "A letter's pixels are those of Pango and cairo without hinting",
        arguments: ["H", "g", "@", "&", "M", "8", "Ä"])
    func drawsAsPango(letter: String) throws {
        // One letter: cairo rounds the pen of the next ones to quarters of a pixel. Their places are judged by hb-shape.
        let judged = try Self.pango(letter)
        let ours = try drawn(letter, [.latin], size: 64)
        let size = ours.coverage.size
        var sum = 0.0
        for y in 0..<judged.size.height {
            for x in 0..<judged.size.width {
                let (column, row) = (x - ours.coverage.left, y - ours.coverage.top)
                let inside = (0..<size.width).contains(column) && (0..<size.height).contains(row)
                let coverage = inside ? Int(ours.planes[0][row * size.width + column]) : 0
                let difference = coverage - Int(judged.coverage[y * judged.size.width + x])
                sum += Double(difference * difference)
            }
        }
        let error = (sum / Double(judged.size.pixels)).squareRoot()
        #expect(error <= 1, "\(error)")
    }

    /// Draws a text of the Latin font with 64 pixels an em.
    private static func pango(_ text: String) throws -> (size: PixelSize, coverage: [UInt8]) {
        let folder = try TemporaryFolder()
        let (path, settings) = (folder.file("text.png"), folder.file("fonts.conf"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("font.ttf"), withDestinationPath: TestFont.latin.path)
        try
            "<fontconfig><dir>\(folder.path)</dir><cachedir>\(folder.file("cache"))</cachedir></fontconfig>"
            .write(toFile: settings, atomically: true, encoding: .utf8)
        _ = try Tool.run(
            "/usr/bin/env",
            [
                "FONTCONFIG_FILE=\(settings)", "pango-view", "--hinting=none", "--antialias=gray",
                "--font=Noto Sans 48", "--dpi=96", "--margin=0", "--no-display",
                "--subpixel-positions", "--text=\(text)", "--output=\(path)",
            ])
        let size = [UInt8](try Data(contentsOf: URL(filePath: path))[16..<24])
        let gray = try Tool.run(
            "/usr/bin/ffmpeg",
            ["-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "gray", "-"])
        return (
            PixelSize(
                width: Int(size[2]) << 8 | Int(size[3]), height: Int(size[6]) << 8 | Int(size[7])),
            gray.map { 255 - $0 }
        )
    }
}

@Suite("Fonts of strangers") struct HostileFontTests {
    private static let prepared = TextRaster.prepare()

    @Test("400 harmed fonts are drawn or refused")
    func survivesHarm() throws {
        #expect(Self.prepared)
        var random = SeededGenerator(seed: 39)
        let folder = try TemporaryFolder()
        for script in [TestFont.latin, .arabic, .devanagari, .thai] {
            // The letters of the text alone: harm to others would never be read.
            let path = folder.file("\(script).ttf")
            _ = try Tool.run(
                "/usr/bin/hb-subset",
                ["--text=\(script.sample)", "--output-file=\(path)", script.path])
            let whole = Array(try Data(contentsOf: URL(filePath: path)))
            let asked = try request(script.sample, [script], size: 24, missing: .skip)
            for number in 0..<100 {
                var bytes = whole
                if number % 10 == 0 {
                    bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
                } else {
                    for _ in 0..<Int.random(in: 1...400, using: &random) {
                        bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                            UInt8.random(in: .min ... .max, using: &random)
                    }
                }
                do throws(Failure) {
                    let drawn = try TextRaster.draw(asked, fonts: [bytes])
                    #expect(drawn.coverage.size.pixels <= TextRequest.pixelsMax)
                } catch {
                    #expect([.badResource, .missingGlyph, .exceedsLimit].contains(error.code))
                }
            }
        }
    }

    @Test(
        "Other formats of fonts are refused by their first bytes",
        arguments: [
            "%!PS-AdobeFont-1.0: A", "\u{80}\u{1}%!PS-AdobeFont", "PFR0 and the rest of it",
            "STARTFONT 2.1\nFONT a",
            "MZ and the rest of a font of Windows", "wOFF and the rest", "wOF2 and the rest", "",
        ]) func refusesFormats(head: String) throws
    {
        let asked = try request("a", [.latin])
        let failure = #expect(throws: Failure.self) {
            try TextRaster.draw(asked, fonts: [Array(head.utf8) + [UInt8](repeating: 0, count: 64)])
        }
        #expect(failure?.code == .badResource)
    }
}
