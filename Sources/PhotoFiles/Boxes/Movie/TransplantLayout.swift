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

/// A movie with the samples of its video track replaced, and every other byte kept.
///
/// Each new sample replaces the sample of the same index in decoding order, so that chunks, and with them the interleaving with
/// sound, are preserved. `moov` comes first. Bytes after a new sample move, and the offsets of all tracks are adjusted.
public struct Transplant: Sendable {
    /// The encoder's samples, in decoding order.
    public struct Samples: Sendable {
        /// Bytes of each sample.
        public var sizes: [Int]
        public var ranks: [Int]
        /// Indices in decoding order at which decoding can begin, ascending.
        public var syncSamples: [Int]

        public init(sizes: [Int], ranks: [Int], syncSamples: [Int]) {
            (self.sizes, self.ranks, self.syncSamples) = (sizes, ranks, syncSamples)
        }
    }

    /// A part of the result.
    public enum Piece: Sendable, Equatable {
        /// Given bytes.
        case bytes([UInt8])
        case source(Range<Int>)
        /// New samples by their indices in decoding order, contiguous.
        case samples(Range<Int>)
    }

    /// The parts of the result in their order.
    public let pieces: [Piece]
    /// Bytes of the result.
    public let length: Int

    /// Plans the result.
    ///
    /// - Parameters:
    ///   - samples: the same number as the movie has; nil for the movie's own, if only other things change.
    ///   - entry: the description of the new samples.
    ///   - matrix: the new orientation of pictures; nil for no change.
    ///   - isMuted: whether sound tracks are removed, with their samples.
    ///   - strip: the metadata to remove; tracks that only contain such metadata are removed with their samples.
    ///   - identifier: the movie's content identifier, and a new one of the same length; nil for no change.
    /// - Throws: `unsupported` if another track shares samples with the video.
    public init(
        _ movie: Movie, samples: Samples?, entry: SampleEntry?, matrix: MovieMatrix? = nil,
        isMuted: Bool = false, strip: MovieStrip = .none,
        identifier: (old: String, new: String)? = nil
    ) throws(MovieProblem) {
        let new = samples?.sizes ?? movie.samples.sizes
        var box = movie.box
        box.boxes[movie.video.boxIndex].change("mdia", "minf", "stbl") { table in
            if let samples { table.replaceSamples(samples, of: movie) }
            if let entry { table.replaceEntry(by: entry) }
        }
        let size = entry?.size ?? movie.video.frameSize
        if matrix != nil || size != movie.video.frameSize {
            box.boxes[movie.video.boxIndex].show(size, matrix, movie.video)
        }

        let others = Set(movie.otherVideos.map(\.boxIndex))
        func isLeftOut(_ track: MovieTrack) -> Bool {
            isMuted && track.handler == "soun" || others.contains(track.boxIndex)
                || strip.leavesOut(track)
        }
        let (left, kept) = (
            movie.tracks.filter(isLeftOut), movie.tracks.filter { !isLeftOut($0) }
        )
        box.strip(strip, keeping: Set(kept.map(\.id)))
        if let identifier { box.rename(identifier.old, to: identifier.new) }

        // The length of moov depends only on whether offsets need eight bytes.
        let growth = new.reduce(0, +) - movie.samples.sizes.reduce(0, +)
        let isLong = movie.length + growth > Self.shortOffsetsMax
        for track in kept { box.boxes[track.boxIndex].makeOffsets(isLong: isLong) }
        let without = left.reduce(0) { $0 + box.boxes[$1.boxIndex].length }
        let layout = TransplantLayout(
            movie, sizes: new, movieLength: box.length - without,
            leftOut: (try movie.samplesRanges(of: left)
                + (strip == .none
                    ? [] : movie.descriptions.map(\.range) + movie.gaps(beside: left))
                + movie.credentials.map(\.range))
                .sorted { $0.lowerBound < $1.lowerBound })
        for track in kept {
            let chunks =
                track.boxIndex == movie.video.boxIndex
                ? layout.chunks : try layout.moved(offsets: movie.box.boxes[track.boxIndex])
            box.boxes[track.boxIndex].setOffsets(chunks)
        }
        for boxIndex in left.map(\.boxIndex).sorted(by: >) { box.boxes.remove(at: boxIndex) }
        var writer = ByteWriter()
        box.write(to: &writer)
        pieces = layout.pieces(movie: writer.bytes)
        length = layout.length
    }

    /// Up to this length, a file has offsets of four bytes; `moov` may grow by the remaining range.
    private static let shortOffsetsMax = Int(UInt32.max) - (128 << 20)
}
