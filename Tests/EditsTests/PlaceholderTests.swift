import Testing

@testable import Edits

@Suite("Placeholders") struct PlaceholderTests {
    private static let values = PlaceholderValues(
        texts: PhotoTexts(
            creator: ["Anna Müller", "佐藤"], rights: "© 2026", caption: "Two\nlines",
            date: PhotoDate(2026, 11, 5, hour: 9, minute: 7)),
        asset: try? AssetPath("weddings/IMG_0001.final.jpg"),  // nil fails the tests that use it
        batch: "wedding", index: 7, fields: ["guest": "José"], rendition: "web")

    private func filled(_ text: String) throws(Failure) -> String {
        try Placeholders(text, at: "text").filled(by: Self.values, at: "text")
    }

    @Test(
        arguments: [
            ("", ""), ("plain }", "plain }"), ("{{creator}", "{creator}"),
            ("© {creator}", "© Anna Müller, 佐藤"), ("{rights}", "© 2026"),
            ("{caption}", "Two lines"), ("{date:yyyy-MM-dd}", "2026-11-05"),
            ("{date:dd.MM.yy HH:mm}", "05.11.26 09:07"), ("{asset}", "weddings/IMG_0001.final.jpg"),
            ("{name}", "IMG_0001.final"), ("{batch}-{index}", "wedding-7"),
            ("{index:4}", "0007"), ("{field:guest}", "José"), ("{rendition}", "web"),
            ("{title|rights}", "© 2026"), (#"{title|"a|b}"}"#, "a|b}"),
            (#"{title|field:none|""}."#, "."), (#"{creator|"x"}"#, "Anna Müller, 佐藤"),
        ])
    func `each placeholder has its value`(text: String, expected: String) throws {
        #expect(try filled(text) == expected)
    }

    @Test(
        arguments: [
            "{", "{}", "{Creator}", "{creator", "{date}", "{date:}", "{date:YYYY}", "{date:ss}",
            "{index:0}", "{index:04}", "{index:11}", "{field:}", "{field:Guest}", "{field:-a}",
            #"{title|"x}"#, #"{"x"|title}"#, #"{title|"x"y}"#, "{a|b}", "{title|}", "{ title}",
        ])
    func `a text with an unknown placeholder is refused`(text: String) {
        let failure = #expect(throws: Failure.self) { try Placeholders(text, at: "marks[0].text") }
        #expect(failure?.code == .invalidValue)
        #expect(failure?.message.hasPrefix("marks[0].text has ") == true)
    }

    @Test(arguments: ["{title}", "{field:none}", "{title|field:none}"])
    func `a placeholder without a value is named`(text: String) {
        let failure = #expect(throws: Failure.self) { try filled("a " + text) }
        #expect(failure?.code == .missingValue)
        #expect(failure?.message.contains(text) == true)
    }

    @Test func `a date without a time has no hours`() throws {
        var values = Self.values
        values.texts.date = PhotoDate(2026, 2, 28)
        let text = try Placeholders(#"{date:HH:mm|date:dd}"#, at: "text")
        #expect(try text.filled(by: values, at: "text") == "28")
        #expect(PhotoDate(2026, 2, 29) == nil && PhotoDate(2024, 2, 29) != nil)
    }

    @Test func `a value is cut, and cannot turn the text around it`() throws {
        var values = Self.values
        values.fields["guest"] = "\u{202E}evil\u{2066}\u{1B}[2J\u{200B}\u{0}x\u{FFFE}"
        #expect(
            try Placeholders("<{field:guest}>", at: "text").filled(by: values, at: "text")
                == "<evil[2J\u{200B}x>")
        values.fields["guest"] = String(repeating: "é", count: 300)
        let long = try Placeholders("{field:guest}", at: "text").filled(by: values, at: "text")
        #expect(long.count == 200)
        values.fields["guest"] = "a" + String(repeating: "\u{301}", count: 5000)
        let marked = try Placeholders("{field:guest}", at: "text").filled(by: values, at: "text")
        #expect(marked.isStreamSafe)
        values.fields["guest"] = " \u{202E}\n "
        #expect(throws: Failure.self) {
            try Placeholders("{field:guest}", at: "text").filled(by: values, at: "text")
        }
    }

    @Test func `a photo is read only for its own values`() throws {
        #expect(try Placeholders("{title|field:a}", at: "").readsPhoto)
        #expect(try !Placeholders("{name} {index} {field:a} {{title}", at: "").readsPhoto)
        #expect(Placeholders(literal: "a {b}").text == "a {{b}")
        #expect(try Placeholders("a {{b}", at: "").literal == "a {b}")
    }
}
