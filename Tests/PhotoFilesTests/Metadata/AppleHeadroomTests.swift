import Edits
import PhotoFiles
import MinilabTesting
import Testing

@Suite("The headroom in Apple's MakerNote") struct AppleHeadroomTests {
    /// EXIF with a note of three entries: the mark of a Live Photo, and both numbers of the headroom.
    private var exif: [UInt8] {
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            Bytes.big(tag, 2) + Bytes.big(type, 2) + Bytes.big(count) + Bytes.big(value)
        }
        // Behind 14 bytes of head and a directory of 2 + 36 + 4.
        let values = 56
        let entries =
            entry(0x11, 2, 5, values + 16) + entry(0x21, 10, 1, values)
            + entry(0x30, 10, 1, values + 8)
        let fractions = [101, 100, 27, 10].flatMap { Bytes.big($0) }
        let note =
            Bytes.text("Apple iOS\0") + [0, 1] + Bytes.text("MM") + Bytes.big(3, 2) + entries
            + Bytes.big(0) + fractions + Bytes.text("mark\0")
        return Bytes.text("MM\0*") + Bytes.big(8) + Bytes.big(1, 2)
            + entry(0x8769, 4, 1, 26) + Bytes.big(0) + Bytes.big(1, 2)
            + entry(0x927C, 7, note.count, 44) + Bytes.big(0) + note
    }

    @Test func `goes with the gain map, and the rest of the note stays`() throws {
        let tags = try #require(AppleMakerNote.headroomTags(inEXIF: exif))
        #expect(tags.tag33 == 1.01 && tags.tag48 == 2.7)
        var facts = PictureFacts(size: PixelSize(width: 40, height: 30))
        #expect(Exif.revised(exif, to: facts) == exif)
        facts.hasGainMap = false
        let revised = try #require(Exif.revised(exif, to: facts))
        #expect(revised.count == exif.count)
        #expect(AppleMakerNote.headroomTags(inEXIF: revised) == nil)
        #expect(AppleMakerNote.contentIdentifier(inEXIF: revised) == "mark")
        #expect(revised.firstRange(of: Bytes.big(27) + Bytes.big(10)) == nil)
    }

    @Test func `a harmed note is revised without harm`() {
        var random = SeededGenerator()
        random.printSeed()
        var facts = PictureFacts(size: PixelSize(width: 40, height: 30))
        facts.hasGainMap = false
        for _ in 0..<2_000 {
            var bytes = exif
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            #expect(Exif.revised(bytes, to: facts).map { $0.count <= bytes.count } ?? true)
        }
    }
}
