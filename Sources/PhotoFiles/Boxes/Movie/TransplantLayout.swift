/// The offsets of all parts of a movie after its samples have other sizes and `moov` is in front.
struct TransplantLayout {
    /// Bytes between samples, moved unchanged.
    private struct Kept {
        let old: Range<Int>
        let new: Int
    }

    /// The offsets of the video's chunks, in the order of the tables.
    private(set) var chunks: [Int]
    /// The length of the file in bytes.
    private(set) var length = 0
    private var kept: [Kept] = []
    /// Byte ranges that the result omits, in order.
    private let leftOut: [Range<Int>]
    private var before: [Transplant.Piece] = []
    private var after: [Transplant.Piece] = []

    /// A header with a length of four bytes, and one of eight.
    private static let header = 8, longHeader = 16

    init(_ movie: Movie, sizes: [Int], movieLength: Int, leftOut: [Range<Int>] = []) {
        self.leftOut = leftOut
        let table = movie.samples
        chunks = [Int](repeating: 0, count: table.chunks.count)
        let byOffset = table.chunks.indices.sorted {
            table.chunks[$0].offset < table.chunks[$1].offset
        }
        var next = byOffset[...]
        let first = movie.others.first.flatMap { $0.type == "ftyp" ? $0 : nil }
        if let first {
            keep(first.range)
            (before, after) = (after, [])
        }
        length += movieLength
        for box in movie.others.dropFirst(first == nil ? 0 : 1) {
            guard box.type == "mdat" else {
                keep(box.range)
                continue
            }
            let inside = next.prefix { table.chunks[$0].offset < box.content.upperBound }
            next = next.dropFirst(inside.count)
            var content = box.content.count
            for index in inside {
                let chunk = table.chunks[index]
                content += sizes[chunk.samples].reduce(0, +) - table.range(of: chunk).count
            }
            for range in leftOut.overlapping(box.content) {
                content -= range.clamped(to: box.content).count
            }
            addHeader(of: box, content: content)
            var offset = box.content.lowerBound
            for index in inside {
                let chunk = table.chunks[index]
                keep(offset..<chunk.offset)
                chunks[index] = length
                after.append(.samples(chunk.samples))
                length += sizes[chunk.samples].reduce(0, +)
                offset = table.range(of: chunk).upperBound
            }
            keep(offset..<box.content.upperBound)
        }
    }

    private mutating func keep(_ range: Range<Int>) {
        var offset = range.lowerBound
        for out in leftOut.overlapping(range) {
            keepAll(offset..<max(offset, out.lowerBound))
            offset = min(out.upperBound, range.upperBound)
        }
        keepAll(offset..<range.upperBound)
    }

    private mutating func keepAll(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        kept.append(Kept(old: range, new: length))
        length += range.count
        if case .source(let last) = after.last, last.upperBound == range.lowerBound {
            after[after.count - 1] = .source(last.lowerBound..<range.upperBound)
        } else {
            after.append(.source(range))
        }
    }

    private mutating func addHeader(of box: Box, content: Int) {
        let wasLong = box.content.lowerBound - box.range.lowerBound == Self.longHeader
        let isLong = wasLong || content + Self.header > Int(UInt32.max)
        var writer = ByteWriter()
        writer.add(isLong ? 1 : content + Self.header, 4)
        writer.add(box.type)
        if isLong { writer.add(content + Self.longHeader, 8) }
        after.append(.bytes(writer.bytes))
        length += writer.bytes.count
    }

    /// All parts.
    func pieces(movie: [UInt8]) -> [Transplant.Piece] { before + [.bytes(movie)] + after }

    /// Returns the new offsets of another track's chunks.
    ///
    /// - Throws: `unsupported` if a chunk begins in samples of the video, or in `moov`.
    func moved(offsets track: MovieBox) throws(MovieProblem) -> [Int] {
        guard let table = track["mdia", "minf", "stbl"],
            table["stco"] != nil || table["co64"] != nil
        else { return [] }
        return try SampleTable.chunkOffsets(of: table).map { offset throws(MovieProblem) in
            try moved(offset)
        }
    }

    private func moved(_ offset: Int) throws(MovieProblem) -> Int {
        var (low, high) = (0, kept.count)
        while low < high {
            let middle = (low + high) / 2
            if kept[middle].old.upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        guard low < kept.count, kept[low].old.contains(offset) else {
            throw .unsupported(
                "a track with samples at byte \(offset), where there are none of its own")
        }
        return kept[low].new + offset - kept[low].old.lowerBound
    }
}
