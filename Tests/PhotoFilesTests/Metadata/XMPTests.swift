import Edits
import PhotoFiles
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
        #expect(revised(text, facts) == nil, "an element that nobody knows")
        let known = text.replacing("<a ", with: "<rdf:Description ").replacing(
            "</a>", with: "</rdf:Description>")
        #expect(
            revised(known, facts)?.contains(
                "<rdf:Description exif:ISO=\"3\">\n</rdf:Description>") == true)
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
            #expect(revised(text, facts)?.contains("GPS") != true)
            #expect(revised(text, self.facts) != nil)
        }
        var generator = SeededGenerator()
        generator.printSeed()
        for _ in 0..<500 {
            let text = (0..<20).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
            // Without the place nothing is left of a packet that is not well-formed.
            #expect(revised(String(text.dropLast(3)), facts)?.contains("GPS") != true)
            #expect(revised(String(text.dropLast(3)), self.facts) != nil)
        }
    }

    @Test func `regions of faces stay while nothing moves, and go with a geometry`() throws {
        let regions = """
            <mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li mwg-rs:Type="Face">\
            <mwg-rs:Area stArea:x="0.5" stArea:y="0.5"/></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>
            """
        let packet = Array("<a><dc:title>x</dc:title>\(regions)</a>".utf8)
        let size = PixelSize(width: 30, height: 20)
        let same = try #require(XMP.revised(packet, to: PictureFacts(size: size)))
        #expect(same == packet)
        let moved = try #require(
            XMP.revised(packet, to: PictureFacts(size: size, positions: .unknown)))
        #expect(String(decoding: moved, as: UTF8.self) == "<a><dc:title>x</dc:title></a>")
    }

    @Test func `values are read of attributes, elements and lists, and a description is added`() {
        let packet = XMP.packet(
            of:
                "<rdf:Description a:b=' 1 '><a:c>2</a:c><a:d><rdf:Seq><rdf:li>3</rdf:li><rdf:li>4</rdf:li></rdf:Seq></a:d></rdf:Description>"
        )
        #expect(XMP.values("a:b", in: packet) == ["1"])
        #expect(XMP.values("a:c", in: packet) == ["2"])
        #expect(XMP.values("a:d", in: packet) == ["3", "4"])
        #expect(XMP.values("a:e", in: packet).isEmpty)
        let more = XMP.adding("<rdf:Description a:e='5'/>", to: packet)
        #expect(XMP.values("a:e", in: more) == ["5"] && XMP.values("a:c", in: more) == ["2"])
        let odd = Array("<r:RDF></r:RDF>".utf8)
        #expect(XMP.values("a:e", in: XMP.adding("<rdf:Description a:e='5'/>", to: odd)) == ["5"])
    }

    private let gainMap = "http://ns.adobe.com/hdr-gain-map/1.0/"

    @Test func `claims go by whichever prefix a packet has for their name space`() {
        let text = """
            <r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:g='http://ns.google.com/photos/1.0/container/' \
            xmlns:c = "http://ns.google.com/photos/1.0/camera/" xmlns:h="\(gainMap)" xmlns:t="http://ns.adobe.com/tiff/1.0/">\
            <r:Description h:Version="1.0" c:MotionPhoto='1' t:Orientation="6" a:b="1"><g:Directory><r:Seq>x</r:Seq></g:Directory>\
            </r:Description></r:RDF>
            """
        let expected =
            text
            .replacing(
                #" h:Version="1.0" c:MotionPhoto='1' t:Orientation="6""#,
                with: #" t:Orientation="1""#
            )
            .replacing("<g:Directory><r:Seq>x</r:Seq></g:Directory>", with: "")
        #expect(XMP.hasGainMap(Array(text.utf8)))
        #expect(revised(text) == expected)
    }

    @Test
    func
        `an element of a name space without prefix goes, an attribute without one is another thing`()
    {
        let text = """
            <a xmlns:h="\(gainMap)"><Directory xmlns="http://ns.google.com/photos/1.0/container/">x</Directory>\
            <b Directory="1"/></a>
            """
        #expect(
            revised(text)
                == "<a xmlns:h=\"\(gainMap)\">\n<b Directory=\"1\"/></a>".replacing("\n", with: ""))
    }

    @Test func `a usual prefix that a packet has for something else is not meant`() {
        let text = #"<a xmlns:hdrgm="http://example.com/" hdrgm:Version="1.0"/>"#
        #expect(!XMP.hasGainMap(Array(text.utf8)))
        #expect(revised(text) == text)
    }

    @Test func `a packet that declares prefixes without end is not kept`() {
        let names = (0..<5_000).map { "xmlns:a\($0)=\"\(gainMap)\"" }.joined(separator: " ")
        #expect(revised("<a \(names) a4999:Version=\"1.0\"/>") == nil)
    }

    @Test func `a description is added to a packet with another prefix for RDF`() throws {
        let packet = Array(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <r:Description a:d="1"/></r:RDF></x:xmpmeta>
            """.utf8)
        let more = XMP.adding("<rdf:Description rdf:about='' a:e='5'/>", to: packet)
        #expect(XMP.values("a:d", in: more) == ["1"] && XMP.values("a:e", in: more) == ["5"])
        let text = String(decoding: more, as: UTF8.self)
        #expect(
            text.contains(
                "<rdf:Description xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" rdf:about='' a:e='5'/></r:RDF>"
            ))
    }
}
