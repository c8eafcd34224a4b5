import Edits
import Dashboard
import Testing

struct HostileTests {
    static let corpus = [
        #"<script>alert(1)</script>"#, #""><img src=x onerror=alert(1)>"#,
        #"' onmouseover='alert(1)"#,
        #"javascript:alert(1)"#, #"</title><script>alert(1)</script>"#,
        "\"\u{301} onfocus=\"alert(1)",
        "'\u{338} onfocus=alert(1) '", "<\u{338}script>", #"{{csrf}}{{{csrf}}}"#,
        "`onload=alert(1)",
        "</textarea></select></dialog>", "a\u{0}b", "\u{202E}gpj.exe", "//evil.example/x",
        "../../etc/passwd", "a b?c=d&e=f#g", "%2e%2e%2f", "<!--", "]]><svg onload=alert(1)>",
        String(repeating: "<", count: 300),
    ]

    @Test(arguments: corpus) func `what a stranger wrote is only text`(_ text: String) {
        let calm = Examples().all
        for (index, example) in Examples(hostile: text).all.enumerated() {
            let markup = Markup(example.page.render())
            #expect(markup.unbalanced == [], "\(example.name)")
            let names = markup.tags.map { ($0.isEnd ? "/" : "") + $0.name }
            #expect(!names.contains("/script") || names.contains("script"))
            // Attributes are those that templates write, none more.
            let allowed = Set(
                Markup(calm[index].page.render()).tags.flatMap { $0.attributes.map(\.name) })
            let own: Set = ["selected", "disabled", "checked"]
            for tag in markup.tags {
                for attribute in tag.attributes {
                    #expect(
                        allowed.contains(attribute.name) || own.contains(attribute.name),
                        "\(example.name): \(tag.name) \(attribute.name)")
                    guard ["href", "src", "action"].contains(attribute.name) else { continue }
                    #expect(
                        attribute.value == "#main"
                            || attribute.value.hasPrefix("/") && !attribute.value.hasPrefix("//")
                                && attribute.value.utf8.allSatisfy { (0x21...0x7E).contains($0) },
                        "\(example.name): \(attribute.value)")
                }
            }
            for script in markup.all("script") {
                #expect(script["src"]?.hasPrefix("/ui/files/") == true)
            }
            for part in example.page.fragments {
                #expect(Markup(part.html).unbalanced == [], "\(example.name) \(part.id)")
            }
        }
    }

    @Test func `a quote with an accent behind it does not end an attribute`() {
        let html = FindPage(
            Frame(viewer: nil, csrf: "", version: "1"), query: "\"\u{301} autofocus onfocus=\"x",
            groups: []
        ).render()
        #expect(html.contains("value=\"&quot;\u{301} autofocus onfocus=&quot;x\""))
    }

    @Test(arguments: [
        "gpj.\u{202E}exe", "a\u{2066}b", "Scherm\u{ad}afbeelding.png", "\u{200f}\u{5e6}.png",
    ])
    func `a name that turns the direction of writing is shown escaped and linked as it is`(
        _ name: String
    ) throws {
        let frame = Frame(viewer: nil, csrf: "", version: "1")
        let html = FindPage(
            frame, query: "", groups: [FindGroup("Assets", [.asset(name)])]
        ).render()
        #expect(!html.replacing("\n", with: "").hasControls, "\(html)")
        #expect(html.contains(name.printable))
        #expect(html.contains("/assets/" + name.percentEncoded()))
    }

    @Test func `a url has each value in one segment or one value of its query`() {
        #expect(Links.job("a/../b?c#d") == "/jobs/a%2F..%2Fb%3Fc%23d")
        #expect(Links.asset("acme/IMG 1+ü.JPG") == "/assets/acme/IMG%201%2B%C3%BC.JPG")
        #expect(
            Links.picture("a/b.jpg", version: "x&y") == "/ui/pictures/a/b.jpg?version=x%26y")
        #expect(Links.find("batch:1 & 2") == "/find?q=batch%3A1%20%26%202")
        #expect(Links.live("job", of: "acme.1") == "/ui/live?page=job&of=acme.1")
        #expect(
            DeadSelection(code: "noSpace").listed(after: "=")
                == "/dead?code=noSpace&list=1&after=%3D")
    }
}
