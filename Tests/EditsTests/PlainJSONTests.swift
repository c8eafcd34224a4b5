import FoundationEssentials
import MinilabTesting
import Testing

@testable import Edits

@Suite("plain JSON") struct PlainJSONTests {
    private func decoded(_ text: String) -> JSONValue? {
        // nil for what is no JSON; that both find none is compared, too.
        try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    @Test(arguments: [
        #"{"asset":"acme/IMG_1.JPG","id":"o-1","edit":{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}}"#,
        "{}", "[]",
        " {\t\"a\" :\r\n[ 1 , -0.5,0, -0,10.25 ] , \"b\":{\"c\":null,\"d\":true,\"e\":false}}\n",
        #"{"ä":"日本 🙂","":""}"#, "[[[[[]]]]]", #"["\#u{7f}"]"#,
        "[123456789012345, -0.12345678901234]",
    ])
    func `what is plain is read as JSONDecoder reads it`(_ text: String) {
        let value = PlainJSON.value(of: text)
        #expect(value != nil && value == decoded(text))
    }

    @Test(arguments: [
        "", " ", "1", "\"a\"", "null", "[1e3]", "[1E3]", #"["a\nb"]"#, #"{"a":1,"a":2}"#,
        "{\"\u{e9}\":1,\"e\u{301}\":2}", "[12345678901234567890]", "{\"a\":\"\u{0}\"}",
        "{\"a\":\"\n\"}",
        String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
    ])
    func `what is not plain is left to JSONDecoder`(_ text: String) {
        #expect(PlainJSON.value(of: text) == nil)
    }

    @Test(arguments: [
        "{", "[", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
        "{'a':1}",
        "[01]", "[-]", "[1.]", "[.5]", "[+1]", "[--1]", "[tru]", "[nul]", "[truefalse]", "[1 2]",
        "[]]",
        "{}{}", "[\"a]", "[NaN]", "[Infinity]", "[0x1]", "[1_000]", "\u{feff}{}", "[] x",
        "{\"a\" 1}",
    ])
    func `what is wrong is not read`(_ text: String) {
        #expect(PlainJSON.value(of: text) == nil)
    }

    /// Documents as programs write them, then the same with some bytes changed: read alike, or not at all.
    @Test(arguments: [UInt64(1), 2, 3])
    func `documents drawn at random mean the same to both`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = Array("{}[]\",:0123456789.-eE+\\ \n\tatrufalsn\u{1}é".utf8)
        var read = 0
        for _ in 0..<3000 {
            let text = Self.document(&random, depth: 0)
            let whole = PlainJSON.value(of: text)
            #expect(whole != nil && whole == decoded(text), "\(text)")
            var harmed = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<harmed.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: harmed[index] = bytes.randomElement(using: &random) ?? 0
                case 1 where harmed.count > 1: harmed.remove(at: index)
                default: harmed.insert(bytes.randomElement(using: &random) ?? 0, at: index)
                }
            }
            guard let changed = String(validating: harmed, as: UTF8.self),
                let value = PlainJSON.value(of: changed)
            else { continue }
            read += 1
            #expect(value == decoded(changed), "\(changed)")
        }
        #expect(read > 100, "few of the harmed documents are still JSON, and they have to be seen")
    }

    private static func document(_ random: inout SeededGenerator, depth: Int) -> String {
        let space = [" ", "", "", "\n", "\t"].randomElement(using: &random) ?? ""
        let isList = Bool.random(using: &random)
        let members = (0..<Int.random(in: 0...4, using: &random)).map { number in
            (isList ? "" : "\"n\(number)\"\(space):\(space)") + value(&random, depth: depth + 1)
        }.joined(separator: "\(space),\(space)")
        return isList ? "[\(space)\(members)]" : "{\(space)\(members)}\(space)"
    }

    private static func value(_ random: inout SeededGenerator, depth: Int) -> String {
        switch Int.random(in: 0..<(depth < 5 ? 9 : 6), using: &random) {
        case 0: "true"
        case 1: "null"
        case 2: "\"aé \(Int.random(in: 0..<1000, using: &random))/.JPG\""
        case 3: "\(Int.random(in: -100_000...100_000, using: &random))"
        case 4:
            "\(Int.random(in: -999...999, using: &random)).\(Int.random(in: 0..<1_000_000, using: &random))"
        case 5: "\"\""
        default: document(&random, depth: depth)
        }
    }
}
