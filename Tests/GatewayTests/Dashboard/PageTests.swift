import Dashboard
import Testing

struct PageTests {
    static let examples = Examples.Fill.allCases.flatMap { fill in
        Examples(fill: fill).all.map { Example(name: "\($0.name) (\(fill))", page: $0.page) }
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        let page: any Page
        var testDescription: String { name }
    }

    @Test(arguments: examples) func `elements are closed and ids are unique`(_ example: Example) {
        let markup = Markup(example.page.render())
        #expect(markup.unbalanced == [])
        let ids = markup.tags.compactMap { $0["id"] }
        #expect(Set(ids).count == ids.count, "\(ids)")
        for tag in markup.tags {
            for name in ["aria-labelledby", "aria-describedby", "for"] {
                if let id = tag[name] { #expect(ids.contains(id), "\(name)=\(id)") }
            }
        }
    }

    @Test(arguments: examples) func `every field has a label and every form what it needs`(
        _ example: Example
    ) {
        let markup = Markup(example.page.render())
        let labelled = Set(markup.all("label").compactMap { $0["for"] })
        for tag in markup.tags
        where ["input", "select", "textarea"].contains(tag.name) && !tag.isEnd {
            guard tag["type"] != "hidden" else { continue }
            #expect(labelled.contains(tag["id"] ?? ""), "\(tag)")
        }
        var isPost = false
        var hasToken = false
        for tag in markup.tags {
            if tag.name == "form", !tag.isEnd {
                isPost = tag["method"] == "post"
                hasToken = false
                #expect(tag["action"]?.first == "/")
            }
            if tag.name == "input", tag["name"] == "csrf" { hasToken = true }
            if tag.name == "form", tag.isEnd { #expect(hasToken == isPost) }
        }
    }

    @Test(arguments: examples) func `headings are in order and there is one of the first rank`(
        _ example: Example
    ) {
        let ranks = Markup(example.page.render()).tags.filter {
            !$0.isEnd && ["h1", "h2", "h3", "h4"].contains($0.name)
        }.compactMap { Int($0.name.dropFirst()) }
        #expect(ranks.first == 1)
        #expect(ranks.filter { $0 == 1 }.count == 1)
        for (before, after) in zip(ranks, ranks.dropFirst()) { #expect(after <= before + 1) }
    }

    @Test(arguments: examples) func `a page obeys the content security policy`(_ example: Example) {
        for tag in Markup(example.page.render()).tags {
            #expect(tag["style"] == nil)
            #expect(!tag.attributes.contains { $0.name.lowercased().hasPrefix("on") })
            #expect(tag.name != "style")
            if tag.name == "script", !tag.isEnd {
                #expect(tag["src"]?.hasPrefix("/ui/files/") == true)
            }
            for name in ["href", "src", "action"] {
                guard let url = tag[name] else { continue }
                #expect(url == "#main" || url.hasPrefix("/") && !url.hasPrefix("//"), "\(url)")
            }
        }
    }

    @Test(arguments: examples) func `a part is the inside of its element`(_ example: Example) {
        let page = example.page.render()
        for part in example.page.fragments {
            #expect(
                Markup(page).tags.contains { $0["id"] == part.id && $0["data-part"] == part.id })
            #expect(page.contains(part.html), "\(part.id)")
        }
    }

    @Test func `what a key does not allow is not offered`() {
        let reader = Frame(
            viewer: Viewer(name: "reader", tenant: "acme", scopes: ["read"]), csrf: "c",
            version: "1")
        let html = JobPage(
            reader, job: "acme.1", state: "dead", sentence: "dead", facts: [], asset: nil,
            timeline: [], attempts: [], edit: nil, isCancellable: true, isReplayable: true
        ).render()
        let forms = Markup(html).all("form").compactMap { $0["action"] }
        #expect(forms == ["/find", "/signout"])
        #expect(!html.contains(#"href="/keys""#))
        #expect(html.contains(#"href="/batches""#))
    }

    @Test func `a tenant's key is offered no page of the whole queue`() {
        let shop = Frame(
            viewer: Viewer(
                name: "shop", tenant: "acme", scopes: ["enqueue", "read", "operate", "admin"]),
            csrf: "c", version: "1")
        let html = BatchesPage(shop, open: [], ended: []).render()
        let offered = Markup(html).all("a").filter { $0["data-letter"] != nil }
            .compactMap { $0["href"] }
        #expect(offered == ["/batches", "/dead", "/webhooks"])
    }
}
