/// A movie with the samples of its video track replaced, and every other byte kept.
///
/// Each new sample takes the place of the one that has its rank in the order of decoding, so that chunks, and with them the interleaving with sound, stay.
/// `moov` comes first; what lies behind a new sample moves, and the offsets of all tracks with it.
public struct Transplant: Sendable {
    /// The samples that an encoder made, in the order in which they are decoded.
    public struct Samples: Sendable {
        /// Bytes of each.
        public var sizes: [Int]
        /// The rank of each in the order in which they are shown.
        public var ranks: [Int]
        /// Ranks in the order of decoding at which decoding can begin, ascending.
        public var syncSamples: [Int]

        public init(sizes: [Int], ranks: [Int], syncSamples: [Int]) {
            (self.sizes, self.ranks, self.syncSamples) = (sizes, ranks, syncSamples)
        }
    }

    /// A part of the result.
    public enum Piece: Sendable, Equatable {
        /// Bytes that are given.
        case bytes([UInt8])
        /// A part of the source.
        case source(Range<Int>)
        /// New samples by their ranks in the order of decoding, one behind the other.
        case samples(Range<Int>)
    }

    /// The parts of the result in their order.
    public let pieces: [Piece]
    /// Bytes of the result.
    public let length: Int

    /// Plans the result.
    ///
    /// - Parameters:
    ///   - samples: as many as the movie has; nil: the movie's own, where only other things change.
    ///   - entry: what the new samples are.
    ///   - matrix: how pictures are turned from now on; nil: as before.
    ///   - isMuted: whether tracks of sound are left out, their samples too.
    ///   - strip: what is left out of what the movie says of itself; tracks that say nothing else go with their samples.
    ///   - identifier: the content identifier that the movie has, and one of the same length that it gets; nil: as before.
    /// - Throws: `unsupported` where another track has its samples in those of the video.
    public init(
        _ movie: Movie, samples: Samples?, entry: SampleEntry?, matrix: MovieMatrix? = nil,
        isMuted: Bool = false, strip: MovieStrip = .none,
        identifier: (old: String, new: String)? = nil
    ) throws(MovieProblem) {
        let new = samples?.sizes ?? movie.samples.sizes
        var box = movie.box
        box.boxes[movie.video.place].change("mdia", "minf", "stbl") { table in
            if let samples { table.replaceSamples(samples, of: movie) }
            if let entry { table.replaceEntry(by: entry) }
        }
        let size = entry?.size ?? movie.video.frameSize
        if matrix != nil || size != movie.video.frameSize {
            box.boxes[movie.video.place].show(size, matrix, movie.video)
        }

        box.strip(strip)
        if let identifier { box.rename(identifier.old, to: identifier.new) }

        // The length of moov hangs on whether offsets need eight bytes, and nothing else does.
        let growth = new.reduce(0, +) - movie.samples.sizes.reduce(0, +)
        let isLong = movie.length + growth > Self.shortOffsetsMax
        let others = Set(movie.otherVideos.map(\.place))
        func isLeftOut(_ track: MovieTrack) -> Bool {
            isMuted && track.handler == "soun" || others.contains(track.place)
                || strip.leavesOut(track)
        }
        let (left, kept) = (
            movie.tracks.filter(isLeftOut), movie.tracks.filter { !isLeftOut($0) }
        )
        for track in kept { box.boxes[track.place].makeOffsets(isLong: isLong) }
        let without = left.reduce(0) { $0 + box.boxes[$1.place].length }
        let layout = TransplantLayout(
            movie, sizes: new, movieLength: box.length - without,
            leftOut: (try movie.samplesRanges(of: left)
                + (strip == .none ? [] : movie.descriptions.map(\.range)))
                .sorted { $0.lowerBound < $1.lowerBound })
        for track in kept {
            let chunks =
                track.place == movie.video.place
                ? layout.chunks : try layout.moved(offsets: movie.box.boxes[track.place])
            box.boxes[track.place].setOffsets(chunks)
        }
        for place in left.map(\.place).sorted(by: >) { box.boxes.remove(at: place) }
        var writer = ByteWriter()
        box.write(to: &writer)
        pieces = layout.pieces(movie: writer.bytes)
        length = layout.length
    }

    /// A file up to here has offsets of four bytes; `moov` may grow by what is left of them.
    private static let shortOffsetsMax = Int(UInt32.max) - (128 << 20)
}
