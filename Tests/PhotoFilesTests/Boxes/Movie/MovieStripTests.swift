import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("What a movie says of itself") struct MovieStripTests {
    private func box(_ type: BoxType, _ content: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        MovieBox(type, content).write(to: &writer)
        return writer.bytes
    }

    private func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// QuickTime's metadata with a value for each key.
    private func metadata(_ keys: [String]) -> [UInt8] {
        var (list, values) = (ByteWriter(), ByteWriter())
        list.add(0, 4)
        list.add(keys.count, 4)
        for (index, key) in keys.enumerated() {
            list.add(8 + key.utf8.count, 4)
            list.add(text("mdta" + key))
            let value = box("data", [0, 0, 0, 1, 0, 0, 0, 0] + text("value of \(key)"))
            values.add(8 + value.count, 4)
            values.add(index + 1, 4)
            values.add(value)
        }
        return box("hdlr", [0]) + box("keys", list.bytes) + box("ilst", values.bytes)
    }

    private func stripped(_ boxes: [MovieBox], _ strip: MovieStrip) -> [String] {
        var movie = MovieBox("moov", boxes: boxes)
        movie.strip(strip)
        return movie.boxes.map { String(decoding: $0.bytes, as: Unicode.ASCII.self) }
    }

    @Test func `of QuickTime's keys the values of locations go, and of all but the mark of a pair`()
    {
        let keys = [
            "com.apple.quicktime.make", "com.apple.quicktime.location.ISO6709",
            "com.apple.quicktime.content.identifier", "com.apple.quicktime.direction.facing",
        ]
        for head in [[], [0, 0, 0, 0]] as [[UInt8]] {
            let meta = MovieBox("meta", head + metadata(keys))
            let kept = stripped([meta], .location)[0]
            #expect(kept.contains("value of com.apple.quicktime.make"))
            #expect(kept.contains("value of com.apple.quicktime.content.identifier"))
            #expect(!kept.contains("value of com.apple.quicktime.location"))
            #expect(!kept.contains("value of com.apple.quicktime.direction"))
            let mark = stripped([meta], .all)[0]
            #expect(mark.components(of: "value of ") == 1)
            #expect(mark.contains("value of com.apple.quicktime.content.identifier"))
        }
    }

    @Test func `a value whose key is missing goes`() {
        var cut = metadata(["com.apple.quicktime.make", "com.apple.quicktime.model"])
        // The second key is longer than the table.
        let at = cut.indices.first {
            cut[$0...].starts(with: text("mdtacom.apple.quicktime.model"))
        }
        if let at { cut[at - 3] = 0xFF }
        let kept = stripped([MovieBox("meta", cut)], .location)[0]
        #expect(kept.contains("value of com.apple.quicktime.make"))
        #expect(!kept.contains("value of com.apple.quicktime.model"))
    }

    @Test func `of user data the entries of locations go, at any depth`() {
        let inner = box(
            "meta",
            [0, 0, 0, 0] + box("ilst", box("©xyz", text("here")) + box("©too", text("tool"))))
        let data = MovieBox(
            "udta",
            box("©xyz", text("+40.1-074.2/")) + box("loci", text("shop"))
                + box("©mak", text("maker"))
                + inner + [0, 0, 0, 0])
        let kept = stripped([data], .location)[0]
        for gone in ["+40.1", "shop", "here"] { #expect(!kept.contains(gone)) }
        for stays in ["maker", "tool"] { #expect(kept.contains(stays)) }
        #expect(stripped([data], .all) == [""])
        #expect(stripped([data], .none) == [String(decoding: data.bytes, as: Unicode.ASCII.self)])
    }

    @Test func `what cannot be read is left out: it may contain the location`() {
        let broken = box("©mak", text("maker")) + [0, 0, 0xFF, 0xFF] + text("©xyz+40.1")
        #expect(stripped([MovieBox("udta", broken)], .location) == [""])
        #expect(stripped([MovieBox("meta", broken)], .location) == [""])
        #expect(stripped([MovieBox("uuid", MovieStrip.xmp + text("<x/>"))], .location) == [""])
        let other = text("another kind of box")
        #expect(stripped([MovieBox("uuid", other)], .location) == ["another kind of box"])
    }

    @Test func `random metadata never ends badly, and strip all leaves none of it`() {
        var random = SeededGenerator(seed: 18)
        for _ in 0..<2000 {
            var bytes = metadata(["com.apple.quicktime.location.name", "a"])
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            for type in ["meta", "udta"] as [BoxType] {
                for strip in [MovieStrip.location, .all] {
                    let kept = stripped([MovieBox(type, bytes)], strip).joined()
                    if strip == .all { #expect(!kept.contains("value of a")) }
                }
            }
        }
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { self.split(separator: part).count - 1 }
}
