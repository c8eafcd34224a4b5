import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("What a movie says of itself") struct MovieStripTests {
    func box(_ type: BoxType, _ content: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        MovieBox(type, content).write(to: &writer)
        return writer.bytes
    }

    func text(_ text: String) -> [UInt8] { Array(text.utf8) }

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
        movie.strip(strip, keeping: [])
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
        let other = text("another kind of box")
        for type in ["uuid", "gps ", "free", "GPS ", "meco"] as [BoxType] {
            #expect(stripped([MovieBox(type, other)], .location) == [""], "\(type)")
        }
        #expect(stripped([MovieBox("mvhd", other)], .location) == ["another kind of box"])
    }

    @Test func `what nobody knows goes with the location, and texts that spell one`() {
        let keys = ["com.apple.quicktime.make", "com.example.spot", "com.apple.quicktime.spot"]
        let kept = stripped([MovieBox("meta", metadata(keys))], .location)[0]
        #expect(kept.components(of: "value of ") == 1 && kept.contains("quicktime.make"))
        let data = MovieBox(
            "udta",
            box("©cmt", text("at 48.8584, 2.2945")) + box("©des", text("by the sea"))
                + box("XYZW", text("private")))
        let said = stripped([data], .location)[0]
        #expect(
            said.contains("by the sea") && !said.contains("48.8584") && !said.contains("private"))
    }

    /// A track without samples.
    ///
    /// - Parameter keys: the keys of a track of values, of each of its descriptions; nil for one without a table of keys.
    func track(
        _ handler: String, name: String = "", keys: [[String]?] = [nil]
    ) -> MovieBox {
        let head = [UInt8](repeating: 0, count: 8) + text(handler)
        var descriptions = ByteWriter()
        descriptions.add(0, 4)
        descriptions.add(keys.count, 4)
        for keys in keys {
            let table = keys.map { box("keys", $0.flatMap { key($0) }) } ?? []
            descriptions.add(
                box(handler == "meta" ? "mebx" : "text", [0, 0, 0, 0, 0, 0, 0, 1] + table))
        }
        return MovieBox(
            "trak",
            boxes: [
                MovieBox("tkhd", [UInt8](repeating: 0, count: 84)),
                MovieBox(
                    "mdia",
                    boxes: [
                        MovieBox("mdhd", [UInt8](repeating: 0, count: 24)),
                        MovieBox("hdlr", head + [UInt8](repeating: 0, count: 12) + text(name)),
                        MovieBox(
                            "minf",
                            boxes: [
                                MovieBox("stbl", boxes: [MovieBox("stsd", descriptions.bytes)])
                            ]),
                    ]),
            ])
    }

    /// A key of a track of values: its declaration, and the type of the values.
    private func key(_ name: String) -> [UInt8] {
        box(
            "\0\0\0\u{1}",
            box("keyd", text("mdta" + name)) + box("dtyp", [0, 0, 0, 0, 0, 0, 0, 65]))
    }

    static let apple = "com.apple.quicktime."

    @Test(arguments: [
        "vide", "soun", "tmcd", "text", "sbtl", "subt", "clcp", "camm", "meta", "gpmd", "data",
    ])
    func `of tracks strip all keeps none that strip gps removes`(handler: String) throws {
        for name in ["still-image-time", "video-orientation", "location.ISO6709"] {
            let made = try MovieTrack(track(handler, keys: [[Self.apple + name]]), at: 0)
            #expect(!MovieStrip.none.leavesOut(made))
            if MovieStrip.location.leavesOut(made) { #expect(MovieStrip.all.leavesOut(made)) }
            let isPicture = ["vide", "soun", "tmcd"].contains(handler)
            let isOfPair = handler == "meta" && name == "still-image-time"
            #expect(MovieStrip.all.leavesOut(made) == !(isPicture || isOfPair), "\(name)")
        }
    }

    /// Keys of the descriptions of a track, and whether it stays without the location and without all.
    private static let keyLists: [(lists: [[String]?], location: Bool, all: Bool)] = [
        ([["still-image-time"]], true, true),
        ([["still-image-time", "live-photo-still-image-transform"]], true, true),
        ([["still-image-time", "video-orientation"]], true, false),
        ([["video-orientation"], ["still-image-time"]], true, false),
        ([["detected-face", "detected-face.bounds"]], true, false),
        ([["still-image-time", "location.ISO6709"]], false, false),
        ([["still-image-time", "spot"]], false, false),
        ([["still-image-time"], ["spot"]], false, false),
        ([["still-image-time-of-spot"]], false, false), ([["spot.still-image-time"]], false, false),
        ([[]], false, false), ([nil], false, false), ([["still-image-time"], nil], false, false),
    ]

    @Test(arguments: keyLists.indices)
    func `a track of values stays only if all of its keys may stay`(index: Int) throws {
        let (lists, location, all) = Self.keyLists[index]
        let keys = lists.map { list in list.map { names in names.map { Self.apple + $0 } } }
        let made = try MovieTrack(track("meta", keys: keys), at: 0)
        #expect(MovieStrip.location.leavesOut(made) == !location)
        #expect(MovieStrip.all.leavesOut(made) == !all)
    }

    @Test func `a track of values goes with a vendor's key, and with one that cannot be read`()
        throws
    {
        let known = Self.apple + "still-image-time"
        let made = try MovieTrack(track("meta", keys: [[known, "com.example.spot"]]), at: 0)
        #expect(made.valueKeys == [known, "com.example.spot"])
        #expect(MovieStrip.location.leavesOut(made) && MovieStrip.all.leavesOut(made))
        for damage in [box("keyd", text("mdta")), [], key(known) + key("com.example.spot")] {
            var track = track("meta")
            let table = box("keys", key(known) + box("\0\0\0\u{2}", damage))
            track.change("mdia", "minf", "stbl", "stsd") {
                $0.bytes =
                    [0, 0, 0, 0, 0, 0, 0, 1] + box("mebx", [0, 0, 0, 0, 0, 0, 0, 1] + table)
            }
            #expect(MovieStrip.location.leavesOut(try MovieTrack(track, at: 0)))
        }
    }

    @Test func `the name of a handler goes if a place is in it, and always with all else`() {
        for (name, stays) in [("Core Media Video", true), ("48.8583701, 2.2944813", false)] {
            for (strip, isKept) in [(MovieStrip.none, true), (.location, stays), (.all, false)] {
                var movie = MovieBox("moov", boxes: [track("vide", name: name)])
                let length = movie.length
                movie.strip(strip, keeping: [])
                let bytes = movie["trak", "mdia", "hdlr"]?.bytes ?? []
                #expect(String(decoding: bytes, as: UTF8.self).contains(name) == isKept)
                #expect(movie.length == length)
            }
        }
    }

    @Test func `of the names of keys only those of values that stay are left`() {
        let apple = Self.apple
        let names = [
            "at 48.8583701, 2.2944813", "com.vendor.spot", apple + "camera.48.8584,2.2945",
            apple + "camera.spot", apple + "player.spot", apple + "live-photo.spot",
            apple + "cinematic-video.spot",
        ]
        for name in names {
            let keys = [name, apple + "make", name, apple + "content.identifier"]
            for head in [[], [0, 0, 0, 0]] as [[UInt8]] {
                let meta = MovieBox("meta", head + metadata(keys))
                // The values have the new numbers of their keys.
                let kept = stripped([meta], .location)[0]
                let numbers = kept.split(separator: "ilst")[1]
                #expect(!kept.contains(name) && kept.components(of: "value of ") == 2, "\(name)")
                #expect(kept.contains("keys\0\0\0\0\0\0\0\u{2}"))
                for number in ["\u{1}", "\u{2}"] {
                    #expect(numbers.contains("\0\0\0\(number)\0\0\0"), "\(name)")
                }
                let mark = stripped([meta], .all)[0]
                #expect(!mark.contains(name) && mark.components(of: "value of ") == 1)
                #expect(mark.contains("keys\0\0\0\0\0\0\0\u{1}") && !mark.contains("make"))
            }
            #expect(stripped([MovieBox("meta", metadata([name]))], .location) == [""])
        }
        // A key of another name space is another one.
        var other = metadata([apple + "make"])
        if let at = other.indices.first(where: { other[$0...].starts(with: text("mdta")) }) {
            other.replaceSubrange(at..<at + 4, with: text("udta"))
        }
        #expect(stripped([MovieBox("meta", other)], .location) == [""])
    }

    @Test func `of a value its name goes, a picture, and numbers that are a place together`() {
        func value(_ texts: [String], kind: UInt8 = 1, name: String = "") -> String {
            let parts = texts.flatMap { box("data", [0, 0, 0, kind, 0, 0, 0, 0] + text($0)) }
            let content = box("name", text(name)) + parts
            let list = box("ilst", box("©nam", content))
            return stripped([MovieBox("meta", [0, 0, 0, 0] + list)], .location)[0]
        }
        #expect(value(["by the sea"]).contains("by the sea"))
        let named = value(["by the sea"], name: "48.8583701, 2.2944813")
        #expect(named.contains("by the sea") && !named.contains("48.8"))
        #expect(value(["48.8583701", "2.2944813"]) == "")
        #expect(value(["a picture"], kind: 13) == "" && value(["a picture"], kind: 14) == "")
        let titles: [UInt8] = ["48.8583701", "2.2944813"].flatMap {
            [0, UInt8($0.utf8.count), 0, 0] + text($0)
        }
        #expect(stripped([MovieBox("udta", box("©nam", titles))], .location) == [""])
    }

    // MARK: Structures

    static let place = Array("48.8583701, 2.2944813".utf8)

    static func zeros(_ count: Int, after head: [UInt8] = []) -> [UInt8] {
        head + [UInt8](repeating: 0, count: count)
    }

    /// A table with a number of entries of so many bytes.
    private static func table(_ count: UInt8, of length: Int, version: UInt8 = 0) -> [UInt8] {
        zeros(Int(count) * length, after: [version, 0, 0, 0, 0, 0, 0, count])
    }

    /// Structures with the bytes that they have, and the box around them.
    private static let structures: [(outer: BoxType, type: BoxType, content: [UInt8])] = [
        ("moov", "mvhd", zeros(100)), ("moov", "mvhd", zeros(111, after: [1])),
        ("trak", "tkhd", zeros(84)), ("trak", "tkhd", zeros(95, after: [1])),
        ("mdia", "mdhd", zeros(24)), ("mdia", "mdhd", zeros(35, after: [1])),
        ("minf", "vmhd", zeros(12)), ("minf", "smhd", zeros(8)), ("minf", "hmhd", zeros(20)),
        ("minf", "nmhd", zeros(4)), ("minf", "sthd", zeros(4)),
        ("edts", "elst", table(2, of: 12)), ("edts", "elst", table(2, of: 20, version: 1)),
        ("stbl", "stts", table(3, of: 8)), ("stbl", "ctts", table(3, of: 8, version: 1)),
        ("stbl", "stsc", table(3, of: 12)), ("stbl", "stco", table(3, of: 4)),
        ("stbl", "co64", table(3, of: 8)), ("stbl", "stss", table(3, of: 4)),
        ("stbl", "cslg", zeros(24)), ("stbl", "cslg", zeros(43, after: [1])),
        ("stbl", "stsz", zeros(12, after: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3])),
        ("stbl", "stsz", [0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3]),
        ("stbl", "stz2", zeros(2, after: [0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 3])),
        ("trak", "txas", []),
    ]

    /// Writes a box in another, strips that, and returns what is left of the inner one.
    private func kept(
        _ type: BoxType, _ content: [UInt8], in outer: BoxType, _ strip: MovieStrip,
        tracks: Set<Int> = []
    ) -> [UInt8]? {
        var list = MovieBox(outer, boxes: [MovieBox(type, content)])
        list.strip(strip, keeping: tracks)
        return list.boxes.first { $0.type == type }?.bytes
    }

    @Test func `a structure keeps what its fields state, and nothing behind it`() {
        for (outer, type, content) in Self.structures {
            for strip in [MovieStrip.location, .all] {
                #expect(kept(type, content, in: outer, strip) == content, "\(type)")
                let longer = kept(type, content + Self.place, in: outer, strip)
                #expect(longer == content, "\(type)")
            }
            #expect(
                kept(type, content + Self.place, in: outer, .none) == content + Self.place)
        }
    }

    @Test func `a structure that no program needs goes, wherever it is`() {
        let types: [BoxType] = ["iods", "matt", "load", "meco", "uuid", "free", "udta", "gps "]
        for outer in MovieStrip.structures.keys {
            for type in types {
                for strip in [MovieStrip.location, .all] {
                    #expect(kept(type, Self.place, in: outer, strip)?.isEmpty != false, "\(outer)")
                }
            }
        }
        #expect(!MovieStrip.media.contains("wide"))
    }

    @Test func `a structure of an unknown form goes if a place is written in it`() {
        for (outer, type) in [("mdia", "elng"), ("stbl", "sdtp"), ("stbl", "subs")]
            as [(BoxType, BoxType)]
        {
            #expect(kept(type, text("de-CH"), in: outer, .location) == text("de-CH"))
            #expect(kept(type, Self.place, in: outer, .location) == nil)
            #expect(kept(type, Self.place, in: outer, .all) == nil)
        }
    }

    @Test func `references between tracks are numbers of tracks that stay`() {
        let lists = box("chap", [0, 0, 0, 2, 0, 0, 0, 7] + text("48.8")) + box("tmcd", Self.place)
        let found = kept("tref", lists, in: "trak", .location, tracks: [1, 7])
        #expect(found == box("chap", [0, 0, 0, 7]))
        #expect(kept("tref", lists, in: "trak", .all, tracks: [1]) == nil)
        #expect(kept("tref", Self.place, in: "trak", .location, tracks: [1, 7]) == nil)
    }

    @Test func `a clip is a rectangle, apertures are sides, and this file has no name`() {
        let region: [UInt8] = [0, 10, 0, 0, 0, 0, 0, 9, 0, 9]
        #expect(
            kept("clip", box("crgn", region + Self.place), in: "trak", .location)
                == box("crgn", region))
        #expect(kept("clip", Self.place, in: "trak", .location) == nil)
        let shape: [UInt8] = [0, 31] + region.dropFirst(2) + Self.place
        #expect(kept("clip", box("crgn", shape), in: "trak", .all) == nil)
        let sides = Self.zeros(12)
        #expect(
            kept("tapt", box("clef", sides + Self.place), in: "trak", .location)
                == box("clef", sides))
        let (head, own): ([UInt8], [UInt8]) = ([0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 1])
        #expect(
            kept("dref", head + box("url ", own + Self.place), in: "dinf", .location)
                == head + box("url ", own))
    }

    @Test func `what stands behind the boxes of a list goes`() {
        for outer in MovieStrip.structures.keys {
            var list = MovieBox(outer)
            list.tail = [0, 0, 0, 0] + Self.place
            list.strip(.location, keeping: [])
            #expect(list.length == 8, "\(outer)")
        }
    }

    @Test func `the name of an encoder goes with a place in it, and its box for a decoder stays`() {
        func entry(_ name: [UInt8], _ further: [UInt8]) -> [UInt8] {
            let field: [UInt8] = Self.zeros(
                31 - name.count, after: [UInt8(name.count)] + name)
            let fixed: [UInt8] = Self.zeros(42) + field + [0, 24, 0xFF, 0xFF]
            return [0, 0, 0, 0, 0, 0, 0, 1] + box("avc1", fixed + further)
        }
        // A record with two parameter sets.
        let sets: [UInt8] = [1, 66, 0, 30, 0xFF, 0xE1, 0, 2, 0x67, 66, 1, 0, 2, 0x68, 1]
        let decoder = box("avcC", sets)
        func kept(_ description: [UInt8], _ strip: MovieStrip) -> [UInt8]? {
            var made = track("vide")
            made.change("mdia", "minf", "stbl", "stsd") { $0.bytes = description }
            made.strip(strip, keeping: [])
            return made["mdia", "minf", "stbl", "stsd"]?.bytes
        }
        let spot = entry(Self.place, box("avcC", sets + Self.place) + box("spot", Self.place))
        var cleared = entry([], decoder)
        #expect(kept(spot, .none) == spot)
        #expect(kept(spot, .location) == cleared && kept(spot, .all) == cleared)
        let colour = box("colr", text("nclx") + [0, 1, 0, 1, 0, 1, 0x80])
        let plain = entry(text("Lavc libx264"), decoder + colour)
        #expect(kept(plain, .location) == plain)
        cleared = entry([], decoder + colour)
        #expect(kept(plain, .all) == cleared)
    }

    @Test func `a header of other media has no box of a maker, and no font with a place`() {
        let mode = box("gmin", Self.zeros(16))
        func codes(_ font: [UInt8]) -> [UInt8] {
            box("tmcd", box("tcmi", Self.zeros(24) + [UInt8(font.count)] + font))
        }
        let font = codes(text("Helvetica"))
        let made = mode + font + box("gps ", [1, 2])
        #expect(kept("gmhd", made, in: "minf", .location) == mode + font)
        #expect(kept("gmhd", made, in: "minf", .all) == mode + codes([]))
        #expect(kept("gmhd", mode + codes(Self.place), in: "minf", .location) == mode + codes([]))
        #expect(kept("gmhd", Self.place, in: "minf", .location) == [])
    }

    @Test func `a group of samples goes that nobody knows`() {
        for (type, stays) in [("roll", true), ("spot", false)] {
            let end: [UInt8] = [0, 0, 0, 2, 0, 0, 0, 1, 0, 1]
            let group: [UInt8] = [1, 0, 0, 0] + text(type) + end
            for table in ["sgpd", "sbgp"] as [BoxType] {
                #expect((kept(table, group, in: "stbl", .location) != nil) == stays)
            }
        }
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
