/// Changes of a track's tables.
extension MovieBox {
    /// Tables that are replaced, and tables about single samples that are no longer valid.
    private static let ofSamples: Set<BoxType> = [
        "stsz", "stz2", "ctts", "cslg", "stss", "stps", "sgpd", "sbgp", "sdtp", "subs", "saiz",
        "saio", "stdp",
    ]

    /// Replaces the samples of a `stbl`: their sizes and presentation times.
    ///
    /// Decoding times and chunks stay unchanged, and with them edit lists, durations and a variable frame rate. A new sample has
    /// the presentation time of the source's sample of the same rank.
    mutating func replaceSamples(_ samples: Transplant.Samples, of movie: Movie) {
        boxes.removeAll { Self.ofSamples.contains($0.type) }
        let shown = movie.samples.times.sorted()
        let times = samples.ranks.map { shown[$0] }
        let offsets = zip(times, movie.samples.decodeTimes).map { $0 - $1 }
        let least = offsets.min() ?? 0
        if offsets.contains(where: { $0 != 0 }) {
            // Negative offsets require version 1; QuickTime has signed offsets in version 0 and no other version.
            let version = movie.isQuickTime || least >= 0 ? 0 : 1
            boxes.append(Self.offsets(offsets, version: version))
        }
        if least < 0 {
            let bounds = [
                -least, least, offsets.max() ?? 0, shown.first ?? 0,
                (shown.last ?? 0) + movie.samples.lastDuration,
            ]
            if bounds.allSatisfy({ Int32(exactly: $0) != nil }) {
                boxes.append(
                    Self.table("cslg") { table in
                        for bound in bounds { table.add(bound, 4) }
                    })
            }
        }
        if samples.syncSamples.count < samples.sizes.count {
            boxes.append(
                Self.table("stss") { table in
                    table.add(samples.syncSamples.count, 4)
                    for sample in samples.syncSamples { table.add(sample + 1, 4) }
                })
        }
        boxes.append(
            Self.table("stsz") { table in
                table.add(0, 4)
                table.add(samples.sizes.count, 4)
                for size in samples.sizes { table.add(size, 4) }
            })
    }

    /// Returns a `ctts`, in which equal neighbours are run-length coded.
    private static func offsets(_ offsets: [Int], version: Int) -> MovieBox {
        var runs: [(count: Int, offset: Int)] = []
        for offset in offsets {
            if runs.last?.offset == offset {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((1, offset))
            }
        }
        return table("ctts", version: version) { table in
            table.add(runs.count, 4)
            for run in runs {
                table.add(run.count, 4)
                table.add(run.offset, 4)
            }
        }
    }

    private static func table(
        _ type: BoxType, version: Int = 0, _ content: (inout ByteWriter) -> Void
    ) -> MovieBox {
        var writer = ByteWriter()
        writer.add(version, 1)
        writer.add(0, 3)
        content(&writer)
        return MovieBox(type, writer.bytes)
    }

    /// Replaces the single entry of the `stsd` in a `stbl`.
    mutating func replaceEntry(by entry: SampleEntry) {
        change("stsd") { box in
            let old = box.bytes.dropFirst(8).prefix(box.bytes.number(at: 8, 4))
            box.bytes = Array(box.bytes.prefix(8)) + entry.replacing(old)
        }
    }

    /// Changes a `trak` to pictures of this size, and to another matrix unless it is nil.
    ///
    /// Pixels keep their aspect: the displayed size grows with the pictures. If the size changes, apertures (`clap`, `tapt`), which
    /// count old pixels, are removed.
    mutating func show(
        _ size: (width: Int, height: Int), _ matrix: MovieMatrix?, _ track: MovieTrack
    ) {
        let old = track.frameSize
        let isSame = old == size || old.width == 0 || old.height == 0
        let width = isSame ? track.width : (track.width * size.width + old.width / 2) / old.width
        let height =
            isSame ? track.height : (track.height * size.height + old.height / 2) / old.height
        change("tkhd") { box in
            let offset = MovieTrack.Header(box.bytes).matrix
            if let matrix = matrix ?? (isSame ? nil : track.matrix) {
                box.bytes.replaceSubrange(
                    offset..<offset + MovieMatrix.length,
                    with: matrix.bytes(width: width, height: height))
            }
            guard !isSame else { return }
            var sides = ByteWriter()
            for side in [width, height] { sides.add(side << 16, 4) }
            let end = offset + MovieMatrix.length
            box.bytes.replaceSubrange(end..<end + sides.bytes.count, with: sides.bytes)
        }
        guard !isSame else { return }
        boxes.removeAll { $0.type == "tapt" }
        change("mdia", "minf", "stbl", "stsd") { box in
            let entry = SampleEntry.without("clap", box.bytes.dropFirst(8))
            box.bytes = Array(box.bytes.prefix(8)) + entry
        }
    }

    /// Replaces each occurrence of a text in a `moov`'s metadata with one of the same length.
    mutating func rename(_ old: String, to new: String) {
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        guard !old.isEmpty, old.count == new.count else { return }
        change("meta") { box in
            var offset = 0
            while offset + old.count <= box.bytes.count {
                if box.bytes[offset] == old[0],
                    box.bytes[offset..<offset + old.count].elementsEqual(old)
                {
                    box.bytes.replaceSubrange(offset..<offset + old.count, with: new)
                    offset += old.count
                } else {
                    offset += 1
                }
            }
        }
    }

    /// Converts the offsets of a `trak` to eight bytes each.
    mutating func makeOffsets(isLong: Bool) {
        guard isLong else { return }
        change("mdia", "minf", "stbl") { table in
            guard let index = table.boxes.firstIndex(where: { $0.type == "stco" }) else { return }
            let old = table.boxes[index].bytes
            let count = old.number(at: 4, 4)
            table.boxes[index] = MovieBox(
                "co64", Array(old.prefix(8)) + [UInt8](repeating: 0, count: 8 * count))
        }
    }

    /// Sets the offsets of a `trak`; their number must be unchanged.
    mutating func setOffsets(_ offsets: [Int]) {
        change("mdia", "minf", "stbl") { table in
            let isLong = table["co64"] != nil && table["stco"] == nil
            table.change(isLong ? "co64" : "stco") { box in
                var writer = ByteWriter()
                writer.add(box.bytes.prefix(8))
                for offset in offsets { writer.add(offset, isLong ? 8 : 4) }
                // Bytes after the entries are kept, so that the box has the same length.
                writer.add(box.bytes.dropFirst(writer.bytes.count))
                box.bytes = writer.bytes
            }
        }
    }
}
