import Foundation
import Editors
import Testing

@Suite("XML property list") struct XMLPropertyListTests {
    private static let apple = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">

        """

    private func read(_ value: String) throws -> PropertyList {
        try PropertyList(bytes: xml(value))
    }

    @Test func `Apple's document type, comments and instructions are read over`() throws {
        let bytes = xml(
            "<!-- a --><dict> <?x y?> <key>a</key><!-- - --><true/></dict>\n<!-- b -->",
            prolog: Self.apple + "<!-- c -->")
        #expect(try PropertyList(bytes: bytes) == .dictionary(["a": .boolean(true)]))
    }

    @Test(arguments: [
        ("<string>a &lt;&gt;&amp;&quot;&apos; b</string>", "a <>&\"' b"),
        ("<string>&#233;&#xe9;&#x1F600;</string>", "éé😀"), ("<string/>", ""),
        ("<string></string>", ""),
        ("<string > x </string >", " x "),
        ("<string>a<![CDATA[<b>&amp;]]>c</string>", "a<b>&amp;c"),
        ("<string>a<!-- <b> -->c</string>", "ac"), ("<string>红色</string>", "红色"),
    ])
    func `text is read with XML's own references`(element: String, text: String) throws {
        #expect(try read(element) == .string(text))
    }

    @Test(arguments: [
        ("0", 0), ("-5", -5), ("+5", 5), (" 7\n", 7), ("0x1F", 31),
        ("9223372036854775807", Int.max),
        ("-9223372036854775808", Int.min),
    ])
    func `whole numbers are decimal, or hexadecimal after 0x`(text: String, value: Int) throws {
        #expect(try read("<integer>\(text)</integer>") == .integer(value))
    }

    @Test(arguments: [
        "", "-", "1.0", "9223372036854775808", "0x", "0x-5", "--5", "5 5", "٣", "1e3",
    ])
    func `what is no whole number of 64 bits is refused`(text: String) {
        expectRefused("<integer>", xml("<integer>\(text)</integer>"))
    }

    @Test func `real numbers are finite`() throws {
        #expect(try read("<real>-1.5e3</real>") == .real(-1500))
        for bad in ["nan", "inf", "-infinity", "1e999", "", "x"] {
            expectRefused("<real>", xml("<real>\(bad)</real>"))
        }
        let long = String(repeating: "1", count: 100)
        expectRefused("more than 64", xml("<real>\(long)</real>"))
    }

    @Test func `data are Base64 with any space in it`() throws {
        #expect(try read("<data>\n\tAP8=\n\t</data>") == .data(Data([0, 255])))
        #expect(try read("<data/>") == .data(Data()))
        for bad in ["AP8", "A", "====", "AP8=AP8=", "*", "AA=A"] {
            expectRefused("Base64", xml("<data>\(bad)</data>"))
        }
    }

    @Test(arguments: [
        "", "2019-12-01", "2019-12-01T15:27:48", "2019-13-01T00:00:00Z", "2019-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z", "2019-12-01T24:00:00Z", "2019-12-01T00:60:00Z",
        "0000-01-01T00:00:00Z",
        "2019-12-01T15:27:48+01:00", "-019-12-01T15:27:48Z", "2019-00-01T00:00:00Z",
        "2019-01-00T00:00:00Z",
    ])
    func `what is no moment as Apple writes it is refused`(text: String) {
        expectRefused("<date>", xml("<date>\(text)</date>"))
    }

    @Test(arguments: [Data([0xff, 0xfe]), Data([0xfe, 0xff])])
    func `UTF-16 with its mark is read`(mark: Data) throws {
        let text = "<plist><string>红 😀</string></plist>"
        let isBig = mark.first == 0xfe
        let units = text.utf16.flatMap { unit in
            let pair = [UInt8(unit >> 8), UInt8(unit & 0xff)]
            return isBig ? pair : pair.reversed()
        }
        #expect(try PropertyList(bytes: mark + Data(units)) == .string("红 😀"))
        expectRefused("neither", mark + Data(units.dropLast()))
    }

    @Test func `a UTF-8 mark is read over`() throws {
        #expect(
            try PropertyList(bytes: Data([0xef, 0xbb, 0xbf]) + xml("<true/>")) == .boolean(true))
    }

    @Test func `the old text form is refused, even where it is one word`() {
        expectRefused("expected bplist00 or XML", Data("CISepiaTone".utf8))
        expectRefused("expected bplist00 or XML", Data("{ a = b; }".utf8))
        expectRefused("expected bplist00 or XML", Data())
        expectRefused("neither", Data([0x80, 0x81]))
    }

    @Test(arguments: [
        "<null/>", "<STRING/>", "<set></set>", "<dict><string>a</string></dict>",
        "<dict><key>a</key></dict>", "<dict><key>a</key><key>b</key></dict>",
        "<array><key>a</key></array>",
        "<string><b/></string>", "<true>x</true>", "<string>", "<string></data>", "<true/><true/>",
        "",
        "<string>&nbsp;</string>", "<string>&;</string>", "<string>&#xD800;</string>",
        "<string>&#0;</string>", "<string>&#x110000;</string>", "<string>& </string>",
        "<string>&#;</string>",
        "<string>&#-1;</string>", "<string>\u{1}</string>", "<string a></string>",
        "<string a=b></string>",
        "<string a=\"<\"></string>", "< string></string>", "<!-- ", "<string><![CDATA[</string>",
        "text", "<stringstring/>", "<dict><key>a</key><true/><key>a</key><true/></dict>",
    ])
    func `other elements, references and loose ends are refused`(value: String) {
        #expect(throws: PropertyListError.self) { try PropertyList(bytes: xml(value)) }
    }

    @Test(arguments: [
        "", "<plist/>", "<dict/>", "<plist></plist>", "<html></html>", "<plist><true/>",
    ])
    func `a document that is not one value in one plist is refused`(text: String) {
        #expect(throws: PropertyListError.self) { try PropertyList(bytes: Data(text.utf8)) }
    }

    // MARK: Bombs

    @Test func `entities of its own are refused, whether they multiply or fetch`() {
        let laughs = (1..<10).map { "<!ENTITY l\($0) \"&l\($0 - 1);&l\($0 - 1);\">" }.joined()
        expectRefused(
            "declarations",
            xml("<string>&l9;</string>", prolog: "<!DOCTYPE plist [<!ENTITY l0 \"ha\">\(laughs)]>"))
        expectRefused(
            "declarations",
            xml(
                "<string>&x;</string>",
                prolog: "<!DOCTYPE plist [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"))
        expectRefused("none of XML's five", xml("<string>&x;</string>", prolog: Self.apple))
    }

    @Test func `a hundred thousand levels are refused`() {
        let depth = 100_000
        let open = String(repeating: "<array>", count: depth)
        let close = String(repeating: "</array>", count: depth)
        expectRefused("deeper", xml(open + close))
        expectRefused("deeper", xml(open))
        expectRefused("deeper", xml(String(repeating: "<dict><key>a</key>", count: depth)))
    }

    @Test func `more than ten thousand values are refused`() {
        expectRefused(
            "more than 10000 values",
            xml("<array>" + String(repeating: "<true/>", count: 10_000) + "</array>"))
    }

    @Test func `more than 3 MiB are refused`() throws {
        let most = PropertyListLimits.bytesMax
        let space = String(repeating: " ", count: most - xml("<true/>").count)
        #expect(try PropertyList(bytes: xml(space + "<true/>")) == .boolean(true))
        expectRefused("at most", xml(space + " <true/>"))
    }

    @Test func `a long row of accents is refused, for comparing it takes minutes`() throws {
        let accents = { (count: Int) in "a" + String(repeating: "\u{301}\u{323}", count: count / 2)
        }
        #expect(try read("<string>\(accents(30))</string>") == .string(accents(30)))
        expectRefused("combining marks", xml("<string>\(accents(1_000_000))</string>"))
        expectRefused(
            "combining marks", xml("<dict><key>\(accents(1_000_000))</key><true/></dict>"))
    }

    @Test func `cut off anywhere it is refused`() throws {
        let bytes = try plistlib(#"{"a": [1, 2.5, "é", b"x", {"b": True}]}"#, "XML")
        for count in 0..<(bytes.count - 1) {  // the last byte is a line end
            #expect(throws: PropertyListError.self) { try PropertyList(bytes: bytes.prefix(count)) }
        }
    }
}
