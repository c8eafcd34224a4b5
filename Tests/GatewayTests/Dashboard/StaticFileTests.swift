import CZlib
import Dashboard
import Testing

struct StaticFileTests {
    @Test func `a file has a url of its own bytes`() throws {
        let file = try #require(Dashboard.file(named: "live.js"))
        #expect(file.path == "/ui/files/\(file.digest)/live.js")
        #expect(file.digest.count == 16)
        #expect(file.etag == "\"\(file.digest)\"")
        #expect(file.contentType == "text/javascript; charset=utf-8")
        #expect(Dashboard.file(named: "../live.js") == nil)
        #expect(Set(StaticFile.all.map(\.name)).count == StaticFile.all.count)
    }

    @Test func `a page weighs at most 60 KB in six requests`() throws {
        for example in Examples().all {
            let html = example.page.render()
            let loaded = Markup(html).tags.compactMap { tag in
                tag.name == "script" ? tag["src"] : tag.name == "link" ? tag["href"] : nil
            }
            let files = try loaded.map { path in
                try #require(StaticFile.all.first { $0.path == path }, "\(path)")
            }
            // One more for a stream of parts; pictures are the photos' own weight.
            let isLive = example.page.live != nil
            let requests = 1 + files.filter { $0.name != "icon.svg" }.count + (isLive ? 1 : 0)
            #expect(requests <= 6, "\(example.name)")
            let weight = try files.reduce(compressed(Array(html.utf8))) {
                try $0 + compressed($1.bytes)
            }
            #expect(weight <= 60_000, "\(example.name): \(weight)")
        }
    }

    @Test func `modules make html in one place, and run no text`() throws {
        for file in StaticFile.all where file.name.hasSuffix(".js") {
            let text = String(decoding: file.bytes, as: UTF8.self)
            let sinks = text.ranges(
                of: /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser/)
            #expect(sinks.count == (file.name == "live.js" ? 1 : 0), "\(file.name)")
            #expect(text.ranges(of: /\beval\(|new Function|setTimeout\(['"`]|import\(/).isEmpty)
            #expect(text.ranges(of: /https?:/).isEmpty)
        }
    }

    /// Bytes after deflate at its usual level, as a proxy sends them.
    private func compressed(_ bytes: [UInt8]) throws -> Int {
        var size = compressBound(UInt(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(size))
        let result = compress2(&output, &size, bytes, UInt(bytes.count), 6)
        try #require(result == Z_OK)
        return Int(size)
    }
}
