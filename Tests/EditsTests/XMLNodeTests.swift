import Edits
import MinilabTesting
import Testing

@Suite("XMLNode") struct XMLNodeTests {
    private static func read(_ text: String) throws(XMLNode.Malformed) -> XMLNode {
        try XMLNode(document: Array(text.utf8))
    }

    @Test func `a document is its elements and their text`() throws {
        let root = try Self.read(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- a > comment -->
            <List xmlns="http://x/" quoted='a>b'><Key>a&amp;b &#228;&#xE4;</Key><None/>
              <Key><![CDATA[<raw>]]></Key></List>
            """)
        #expect(root.name == "List")
        #expect(root.children.map(\.name) == ["Key", "None", "Key"])
        #expect(root.text(of: "Key") == "a&b ää")
        #expect(root.children[2].text == "<raw>")
        #expect(root["Other"] == nil)
    }

    @Test(arguments: [
        "", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a>&bad;</a>", "<a>&#xD800;</a>",
        "<a>&lt</a>", "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>", "<a", "<>", "<a/>x", "<a b='>",
        "<![CDATA[x]]>", "<a><!-- </a>",
    ]) func `what is not well-formed is refused`(text: String) {
        #expect(throws: XMLNode.Malformed.self) { try Self.read(text) }
    }

    @Test func `depth, elements and bytes have limits`() throws {
        let deep = String(repeating: "<a>", count: 17)
        let wide = "<a>" + String(repeating: "<b/>", count: XMLNode.elementsMax) + "</a>"
        for text in [deep, wide] {
            let error = #expect(throws: XMLNode.Malformed.self) { try Self.read(text) }
            #expect(error?.reason.hasPrefix("too many elements") == true)
        }
        let long = [UInt8](repeating: 0x20, count: XMLNode.bytesMax + 1)
        #expect(throws: XMLNode.Malformed.self) { try XMLNode(document: long) }
    }

    @Test func `harmed documents end in a tree or an error`() {
        var random = SeededGenerator()
        random.printSeed()
        let whole = Array("<a x='1'><b>t&amp;</b><![CDATA[c]]><!-- d --><e/></a>".utf8)
        for _ in 0..<5_000 {
            var harmed = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                harmed[Int.random(in: harmed.indices, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            do throws(XMLNode.Malformed) {
                #expect(try XMLNode(document: harmed).name.isEmpty == false)
            } catch {
                #expect(!error.reason.isEmpty)
            }
        }
    }
}
