import Edits
import Foundation
import Testing

@Suite("Printable text") struct PrintableTextTests {
    /// What moves a cursor, begins a terminal's command, ends a line or turns the direction of writing.
    static let controls =
        [
            "\0", "\u{7}", "\t", "\n", "\r", "\u{1b}", "\u{7f}", "\u{80}", "\u{85}", "\u{9b}",
            "\u{9d}",
        ]
        + [
            "\u{ad}", "\u{61c}", "\u{200b}", "\u{200e}", "\u{200f}", "\u{2028}", "\u{2029}",
            "\u{202a}", "\u{202b}", "\u{202c}", "\u{202d}", "\u{202e}", "\u{2066}", "\u{2067}",
            "\u{2068}", "\u{2069}", "\u{feff}", "\u{e0041}",
        ]

    @Test(arguments: controls)
    func `a control character is written as its number, wherever it stands`(control: String) {
        let text = "a" + control + "b" + control
        #expect(text.hasControls)
        for shown in [text.printable, text.printableLines.replacing("\n", with: "")] {
            #expect(!shown.hasControls, "\(shown)")
        }
        #expect(text.printable.hasPrefix(control == "\n" ? #"a\nb"# : #"a\u{"#))
    }

    @Test(arguments: [
        "plain", "Zoë, été, naïve", "写真/ねこ.jpg", "می\u{200c}خواهم", "👩\u{200d}👧 😀", "",
    ])
    func `what can be seen stays as it is, the joiners of Persian and of emoji too`(text: String) {
        #expect(text.printable == text)
        #expect(text.printableJSON == text)
        #expect(!text.hasControls)
    }

    @Test func `line ends of our own stay where several lines are printed`() {
        #expect("a\nb\u{1b}\nc".printableLines == "a\nb\\u{1B}\nc")
    }

    @Test func `a line end of Windows is one character to Swift and two controls here`() {
        #expect("a\r\nb".printable == #"a\u{D}\nb"#)
    }

    @Test(arguments: controls)
    func `JSON says the same with its own escapes`(control: String) throws {
        let value = ["asset": "a\(control)b"]
        let json = String(decoding: try JSONEncoder().encode(value), as: UTF8.self).printableJSON
        #expect(!json.hasControls, "\(json)")
        #expect(try JSONDecoder().decode([String: String].self, from: Data(json.utf8)) == value)
    }

    @Test func `every byte survives percent-encoding`() {
        let text = "a/b c+ä%\u{1F4F7}~"
        let encoded = text.percentEncoded()
        #expect(encoded == "a%2Fb%20c%2B%C3%A4%25%F0%9F%93%B7~")
        #expect(encoded.percentDecoded == text)
        #expect("a/b".percentEncoded(keeping: "/") == "a/b")
        for text in ["%", "%4", "%zz", "%FF", "%+1"] { #expect(text.percentDecoded == nil) }
    }
}
