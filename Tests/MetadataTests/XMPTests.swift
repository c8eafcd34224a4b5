import Adjustments
import Metadata
import MinilabTesting
import Testing

@Suite("XMP of a rendered photo") struct XMPTests {
    private let facts = PictureFacts(size: PixelSize(width: 300, height: 200))

    private func revised(_ text: String, _ facts: PictureFacts? = nil) -> String? {
        XMP.revised(Array(text.utf8), to: facts ?? self.facts)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `attributes and elements become true, all else stays as it is`() {
        let text = """
            <?xpacket begin="\u{FEFF}"?><rdf:Description tiff:Orientation="6" tiff:ImageWidth = '4000'
              exif:PixelXDimension="4000" dc:title="tiff:Orientation=6 é">
            <tiff:ImageLength>3000</tiff:ImageLength><exif:PixelYDimension>3000</exif:PixelYDimension>
            <tiff:OrientationNote>6</tiff:OrientationNote></rdf:Description>
            """
        let expected = """
            <?xpacket begin="\u{FEFF}"?><rdf:Description tiff:Orientation="1" tiff:ImageWidth = '300'
              exif:PixelXDimension="300" dc:title="tiff:Orientation=6 é">
            <tiff:ImageLength>200</tiff:ImageLength><exif:PixelYDimension>200</exif:PixelYDimension>
            <tiff:OrientationNote>6</tiff:OrientationNote></rdf:Description>
            """
        #expect(revised(text) == expected)
    }

    @Test func `thumbnails go in every case, the location when that is asked for`() {
        let text = """
            <a exif:GPSLatitude="38,55N" exif:ISO="3"><xmp:Thumbnails><rdf:Alt>abc</rdf:Alt></xmp:Thumbnails>
            <exif:GPSLongitude>77,2W</exif:GPSLongitude><exif:GPSAltitude/></a>
            """
        let thumbnail = "<xmp:Thumbnails><rdf:Alt>abc</rdf:Alt></xmp:Thumbnails>"
        #expect(revised(text) == text.replacing(thumbnail, with: ""))
        var facts = facts
        facts.removesLocation = true
        #expect(revised(text, facts) == "<a exif:ISO=\"3\">\n</a>")
    }

    @Test func `what lay beside the original's picture is not announced any more`() {
        let text = """
            <a hdrgm:Version="1.0" b="1"><Container:Directory><rdf:Seq>x</rdf:Seq></Container:Directory>
            </a>
            """
        #expect(XMP.hasGainMap(Array(text.utf8)))
        #expect(revised(text) == "<a b=\"1\">\n</a>")
        #expect(!XMP.hasGainMap(Array("<a b='hdrgm:Version'/>".utf8)))
    }

    @Test func `a new colour space is named and the old profile's name goes`() {
        var facts = facts
        facts.newColourIsSRGB = true
        #expect(
            revised(#"<a exif:ColorSpace="65535" photoshop:ICCProfile="Adobe RGB" b="1"/>"#, facts)
                == #"<a exif:ColorSpace="1" b="1"/>"#)
    }

    @Test func `bytes that are no text are not kept`() {
        #expect(XMP.revised([0xFF, 0xFE, 0x80], to: facts) == nil)
    }

    @Test(.timeLimit(.minutes(10))) func `packets made to be slow or wrong do no harm`() {
        var facts = facts
        facts.removesLocation = true
        let parts = [
            "<tiff:Orientation>", " tiff:Orientation=\"", " tiff:Orientation=", "<exif:GPSLatitude",
            "tiff:Orientation", "<tiff:Orientation/>", " exif:GPSLatitude='x'",
        ]
        for part in parts {
            let text = String(repeating: part, count: 60_000 / part.utf8.count)
            #expect(revised(text, facts) != nil)
        }
        var generator = SeededGenerator()
        generator.printSeed()
        for _ in 0..<500 {
            let text = (0..<20).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
            #expect(revised(String(text.dropLast(3)), facts) != nil)
        }
    }
}
