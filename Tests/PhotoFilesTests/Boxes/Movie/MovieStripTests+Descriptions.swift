import Testing

@testable import PhotoFiles

/// Descriptions of samples, whose boxes are those of decoders, players and makers.
extension MovieStripTests {
    /// Descriptions of samples by the kinds of their tracks: boxes that stay, and whether their text does. An entry's own fields are zeros.
    private static let parts:
        [(handler: String, fixed: Int, type: BoxType, content: [UInt8], isCut: Bool)] = [
            ("vide", 78, "pasp", [0, 0, 0, 1, 0, 0, 0, 2], true),
            ("vide", 78, "btrt", zeros(12), true), ("vide", 78, "fiel", [1, 0], true),
            ("vide", 78, "colr", Array("nclx".utf8) + zeros(7), true),
            ("vide", 78, "colr", Array("prof".utf8) + [0, 0, 0, 6, 9, 9], true),
            ("vide", 78, "vpcC", zeros(12), true), ("vide", 78, "av1C", zeros(4), false),
            ("soun", 28, "esds", [0, 0, 0, 0, 3, 0x80, 2, 1, 1], true),
            ("soun", 28, "dOps", zeros(11), false), ("soun", 28, "chan", zeros(12), false),
            ("tmcd", 26, "name", [0, 4, 0, 0] + Array("reel".utf8), false),
        ]

    /// Strips a track with one description of samples, and returns that without its length and type.
    private func description(
        _ handler: String, _ content: [UInt8], _ strip: MovieStrip, behind: [UInt8] = []
    ) -> [UInt8]? {
        var made = track(handler)
        made.change("mdia", "minf", "stbl", "stsd") {
            $0.bytes = [0, 0, 0, 0, 0, 0, 0, 1] + box("abcd", content) + behind
        }
        made.strip(strip, keeping: [])
        return (made["mdia", "minf", "stbl", "stsd"]?.bytes).map { Array($0.dropFirst(16)) }
    }

    @Test(arguments: parts.indices)
    func `a description of samples keeps what decoders read, and no place`(index: Int) {
        let (handler, fixed, type, content, isCut) = Self.parts[index]
        let fields = Self.zeros(fixed)
        let plain = fields + box(type, content)
        let unknown = box("spot", [1, 2, 3]) + box("gps ", Self.place) + box("uuid", Self.place)
        for strip in [MovieStrip.location, .all] {
            let isName = type == "name" && strip == .all
            let kept = isName ? fields : plain
            #expect(description(handler, plain, strip) == kept)
            #expect(description(handler, plain + unknown, strip) == kept)
            #expect(description(handler, plain + [0, 0, 0, 0], strip) == kept + [0, 0, 0, 0])
            #expect(description(handler, plain + Self.place, strip) == kept)
            #expect(description(handler, plain, strip, behind: Self.place) == kept)
            let longer = description(handler, fields + box(type, content + Self.place), strip)
            #expect(longer == (isCut ? plain : fields))
        }
        #expect(description(handler, plain + unknown, .none) == plain + unknown)
    }

    @Test func `a sound's description keeps its form, and of FLAC what decoders need`() {
        for (version, fixed) in [(0, 28), (1, 44), (2, 64)] {
            var fields: [UInt8] = Self.zeros(fixed)
            fields[9] = UInt8(version)
            // The length of version 2, with eight bytes in front of it.
            if version == 2 { fields[31] = 72 }
            let frma = box("frma", text("mp4a")) + box("esds", [0, 0, 0, 0, 3, 1, 1])
            let end: [UInt8] = [0, 0, 0, 8, 0, 0, 0, 0]
            let wave = fields + box("wave", frma + end)
            let more = fields + box("wave", frma + box("spot", [1]) + end)
            for strip in [MovieStrip.location, .all] {
                #expect(description("soun", wave, strip) == wave, "\(version)")
                #expect(description("soun", more, strip) == wave, "\(version)")
                #expect(description("soun", fields + box("gps ", [1]), strip) == fields)
            }
        }
        let info: [UInt8] = [0, 0, 0, 34] + Self.zeros(34)
        let comments: [UInt8] = [0x84, 0, 0, UInt8(Self.place.count)] + Self.place
        let (version, mark): ([UInt8], [UInt8]) = ([0, 0, 0, 0], [0x80])
        let flac = box("dfLa", version + info + comments)
        let alone = box("dfLa", version + mark + info.dropFirst())
        #expect(description("soun", Self.zeros(28) + flac, .location) == Self.zeros(28) + alone)
    }

    @Test func `a key of timed values has its name and its type, and no place`() throws {
        let name = text("mdta" + Self.apple + "still-image-time")
        let type: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 65]
        let plain = box("\0\0\0\u{1}", box("keyd", name) + box("dtyp", type))
        let spot = box("spot", [1]) + box("setu", Self.place)
        let more = box("\0\0\0\u{1}", box("keyd", name) + box("dtyp", type) + spot)
        let fields = Self.zeros(8)
        for strip in [MovieStrip.location, .all] {
            #expect(
                description("meta", fields + box("keys", more) + spot, strip)
                    == fields + box("keys", plain))
        }
        let face = Self.apple + "detected-face.48.8583701,2.2944813"
        let made = try MovieTrack(track("meta", keys: [[face]]), at: 0)
        #expect(MovieStrip.location.leavesOut(made))
    }

    @Test func `an HEVC record keeps its sets, and a message only without a place`() {
        func array(_ kind: UInt8, _ unit: [UInt8]) -> [UInt8] {
            [kind, 0, 1, 0, UInt8(unit.count)] + unit
        }
        let sets = array(32, [64, 1]) + array(33, [66, 1]) + array(0x80 | 34, [68, 1])
        let options = array(39, text("x265 - ip-ratio=1.40 pb-ratio=1.30"))
        let place = array(39, Self.place)
        func record(_ count: UInt8, _ arrays: [UInt8]) -> [UInt8] {
            Self.zeros(78) + box("hvcC", Self.zeros(22) + [count] + arrays)
        }
        for strip in [MovieStrip.location, .all] {
            #expect(
                description("vide", record(5, sets + options + place) + Self.place, strip)
                    == record(4, sets + options))
        }
    }

    // MARK: Media data

    @Test func `bytes behind a chunk of sound belong to no track`() throws {
        var source = try MovieFixture.named("bt601.mp4")
        let movie = try MovieFixture.movie(source)
        let sound = try #require(movie.tracks.first { $0.handler == "soun" })
        var box = movie.box
        let table = try #require(box.boxes[sound.boxIndex]["mdia", "minf", "stbl"])
        var offsets = try SampleTable.chunkOffsets(of: table)
        let ends = try #require(SampleTable.chunkEnds(of: table, ofSound: true))
        let last = try #require(offsets.indices.last)
        // The last chunk moves to media data of its own, with a place behind it.
        let chunk = Array(source[offsets[last]..<ends[last]])
        offsets[last] = source.count + 8
        box.boxes[sound.boxIndex].setOffsets(offsets)
        var writer = ByteWriter()
        box.write(to: &writer)
        source.replaceSubrange(movie.movieRange, with: writer.bytes)
        source += self.box("mdat", chunk + Self.place)
        let changed = try MovieFixture.movie(source)
        for (strip, isKept) in [(MovieStrip.none, true), (.location, false), (.all, false)] {
            let plan = try Transplant(changed, samples: nil, entry: nil, strip: strip)
            let samples = changed.samples.byteRanges
            let result = plan.bytes(of: source) { Array(source[samples[$0]]) }
            #expect(result.count == plan.length)
            #expect(result.suffix(Self.place.count).elementsEqual(Self.place) == isKept)
            let behind = isKept ? Self.place.count : 0
            #expect(result.dropLast(behind).suffix(chunk.count).elementsEqual(chunk))
            #expect(try MovieFixture.movie(result).tracks.count == changed.tracks.count)
        }
    }
}
