import Testing

@testable import Edits

@Suite("Changes of metadata") struct MetadataChangesTests {
    private func changes(_ json: String) throws(Failure) -> MetadataChanges? {
        try Recipe(json: #"{"filters":[],"output":{"metadata":\#(json)}}"#).output.metadata
    }

    @Test func `every field is read and written`() throws {
        let json =
            #"{"caption":"Two\nlines {{","city":"Köln","contact":{"email":"a@example.org","url":"https://example.org"},"#
            + #""country":null,"creator":["Anna {name}","佐藤"],"credit":"c","date":"2026-11-25T14:03:00.25+01:00","#
            + #""headline":"h","keywords":["a","b"],"licensorURL":"https://example.org/l","modified":"2026-11-25T14:03:00Z","#
            + #""rating":-1,"rights":"© {creator}","source":"s","state":null,"title":"t","usageTerms":"u","webStatement":"https://example.org/w"}"#
        let read = try #require(try changes(json))
        #expect(read.values.count == MetadataChanges.Field.allCases.count)
        #expect(try JSONValue(parsing: json, as: "json").canonical == read.json.canonical)
        #expect(read[.country] == .removed && read[.rating] == .rating(-1))
        #expect(!read.isFilled && read.readsPhoto)
    }

    @Test func `a job without the fields keeps its JSON, and an empty object is nothing`() throws {
        #expect(try changes("{}") == nil)
        let json = try Recipe(json: #"{"filters":[],"output":{"metadata":{}}}"#).json.canonical
        #expect(json == #"{"filters":[],"output":{"quality":0.9}}"#)
    }

    @Test(
        arguments: [
            (#"{"creators":["a"]}"#, FailureCode.unknownField, "metadata.creators"),
            (#"{"creator":"a"}"#, .invalidValue, "metadata.creator"),
            (#"{"creator":[]}"#, .invalidValue, "metadata.creator"),
            (#"{"creator":["a",""]}"#, .invalidValue, "metadata.creator[1]"),
            (#"{"creator":["a\n"]}"#, .invalidValue, "metadata.creator[0]"),
            (#"{"caption":"a\u0000"}"#, .invalidValue, "metadata.caption"),
            (#"{"title":"\u009Ba"}"#, .invalidValue, "U+009B"),
            (#"{"title":"a\uFFFE"}"#, .invalidValue, "U+FFFE"),
            (#"{"title":"  "}"#, .invalidValue, "metadata.title"),
            (#"{"title":7}"#, .invalidValue, "metadata.title"),
            (#"{"title":"{nobody}"}"#, .invalidValue, "{nobody}"),
            (#"{"rating":6}"#, .invalidValue, "metadata.rating"),
            (#"{"rating":1.5}"#, .invalidValue, "metadata.rating"),
            (#"{"date":"2026-02-30T00:00:00"}"#, .invalidValue, "metadata.date"),
            (#"{"date":"2026-02-03"}"#, .invalidValue, "metadata.date"),
            (#"{"date":"2026-02-03T00:00:00+0100"}"#, .invalidValue, "metadata.date"),
            (#"{"contact":{"fax":"a"}}"#, .unknownField, "metadata.contact.fax"),
            (#"{"contact":{}}"#, .invalidValue, "metadata.contact"),
        ])
    func `an error names the field`(json: String, code: FailureCode, text: String) {
        let failure = #expect(throws: Failure.self) { try changes(json) }
        #expect(
            failure?.code == code && failure?.message.contains(text) == true, "\(failure as Any)")
    }

    @Test func `texts and lists have limits`() throws {
        func text(_ count: Int) -> String { String(repeating: "ä", count: count) }
        #expect(try changes(#"{"title":"\#(text(2000))"}"#) != nil)
        var failure = #expect(throws: Failure.self) { try changes(#"{"title":"\#(text(2001))"}"#) }
        #expect(failure?.code == .oversizedField)
        let words = Array(repeating: #""a""#, count: 101).joined(separator: ",")
        failure = #expect(throws: Failure.self) { try changes(#"{"keywords":[\#(words)]}"#) }
        #expect(failure?.message.contains("metadata.keywords") == true)
        let marks = String(repeating: "\u{301}", count: 128)
        #expect(throws: Failure.self) { try changes(#"{"title":"a\#(marks)"}"#) }
    }

    @Test(arguments: [
        (#"{"caption":"\u05e6\u200f (\u05d0)"}"#, "\u{5E6}\u{200F} (\u{5D0})"),
        (#"{"caption":"\u202Ea\u202C"}"#, "\u{202E}a\u{202C}"), (#"{"caption":"a\tb"}"#, "a\tb"),
        (#"{"caption":"one\r\ntwo\rthree"}"#, "one\ntwo\nthree"),
        (#"{"caption":"one\u2028two\u0085three"}"#, "one\ntwo\nthree"),
    ])
    func `invisible characters and tabs stay, and each end of a line is a line feed`(
        json: String, text: String
    ) throws {
        #expect(try changes(json)?[.caption]?.literal == text)
    }

    @Test(arguments: [
        "Foto\\u00adstudio", "ruby\\u200bthread", "\\ufeffTitle",
        "\\u2068\\u05d3\\u05e0\\u2069 Cohen",
    ])
    func `invisible characters stay in a title`(text: String) throws {
        #expect(try changes(#"{"title":"\#(text)"}"#)?[.title]?.literal?.isEmpty == false)
        #expect(throws: Failure.self) { try changes(#"{"title":"\ufeff\u00ad"}"#) }
        #expect(throws: Failure.self) { try changes(#"{"title":"a\r\nb"}"#) }
        #expect(throws: Failure.self) { try changes(#"{"title":"a\u001bb"}"#) }
    }

    @Test func `a value of several lines fills in a caption as it is, and a title on one`() throws {
        let values = PlaceholderValues(fields: ["c": "line one\r\nline\u{200F} two"])
        let read = try #require(try changes(#"{"caption":"{field:c}","title":"{field:c}"}"#))
        let filled = try read.filled(by: values)
        #expect(filled[.caption]?.literal == "line one\nline\u{200F} two")
        #expect(filled[.title]?.literal == "line one line\u{200F} two")
    }

    @Test func `texts are composed`() throws {
        let read = try #require(try changes(#"{"title":"Mu\u0308ller"}"#))
        #expect(read[.title]?.literal?.unicodeScalars.count == 6)
    }

    @Test func `placeholders take what the job writes first`() throws {
        let texts = PhotoTexts(creator: ["Old"], title: "A {b}", caption: "Sea")
        let read = try #require(
            try changes(
                #"{"creator":["{field:who}"],"rights":"© {creator}","caption":"{caption}: {title}","headline":"{rights}"}"#
            ))
        let filled = try read.filled(
            by: PlaceholderValues(texts: texts, fields: ["who": "Anna"]))
        #expect(filled.isFilled)
        #expect(filled[.rights]?.literal == "© Anna" && filled[.headline]?.literal == "© Anna")
        #expect(filled[.caption]?.literal == "Sea: A {b}")
        // It is read again as it is.
        #expect(try changes(filled.json.canonical) == filled)
        #expect(texts.replaced(by: filled).creator == ["Anna"])

        let failure = #expect(throws: Failure.self) {
            try read.filled(by: PlaceholderValues(texts: texts))
        }
        #expect(failure?.code == .missingValue)
        #expect(failure?.message.contains("metadata.creator[0] has {field:who}") == true)
        let removed = try #require(try changes(#"{"creator":null,"rights":"© {creator}"}"#))
        #expect(throws: Failure.self) { try removed.filled(by: PlaceholderValues(texts: texts)) }
        let turning = try #require(try changes(#"{"title":"{rights}","rights":"{title}"}"#))
        let turned = try turning.filled(
            by: PlaceholderValues(texts: PhotoTexts(rights: "R", title: "T")))
        #expect(turned[.title]?.literal == "T" && turned[.rights]?.literal == "R")
    }

    @Test func `fields that name each other many times are computed once`() throws {
        func many(_ name: String) -> String { String(repeating: "{\(name)}", count: 190) }
        let read = try #require(
            try changes(
                #"{"creator":["\#(many("rights"))"],"rights":"\#(many("title"))","title":"\#(many("caption"))","caption":"x"}"#
            ))
        // Each is longer than its limit, and 190⁴ texts would take minutes.
        #expect(throws: Failure.self) { try read.filled(by: PlaceholderValues()) }
    }

    @Test func `the values of a rendition precede those of the job`() throws {
        let job = try #require(try changes(#"{"creator":["A"],"title":"t"}"#))
        let own = try #require(try changes(#"{"title":null}"#))
        #expect(job.replaced(by: own)[.title] == .removed)
        #expect(job.replaced(by: own)[.creator] == job[.creator])
        #expect(Set(job.ofRights.values.keys) == [.creator])
    }
}
