/// A movie with the samples of its video track replaced, and every other byte kept.
///
/// Each new sample replaces the sample of the same index in decoding order, so that chunks, and with them the interleaving with
/// sound, are preserved. `moov` comes first. Bytes after a new sample move, and the offsets of all tracks are adjusted.
public struct Transplant: Sendable {
    /// The encoder's samples, in decoding order.
    public struct Samples: Sendable {
        /// Bytes of each sample.
        public var sizes: [Int]
        /// The presentation rank of each sample.
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
        /// A byte range of the source.
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

        box.strip(strip)
        if let identifier { box.rename(identifier.old, to: identifier.new) }

        // The length of moov depends only on whether offsets need eight bytes.
        let growth = new.reduce(0, +) - movie.samples.sizes.reduce(0, +)
        let isLong = movie.length + growth > Self.shortOffsetsMax
        let others = Set(movie.otherVideos.map(\.boxIndex))
        func isLeftOut(_ track: MovieTrack) -> Bool {
            isMuted && track.handler == "soun" || others.contains(track.boxIndex)
                || strip.leavesOut(track)
        }
        let (left, kept) = (
            movie.tracks.filter(isLeftOut), movie.tracks.filter { !isLeftOut($0) }
        )
        for track in kept { box.boxes[track.boxIndex].makeOffsets(isLong: isLong) }
        let without = left.reduce(0) { $0 + box.boxes[$1.boxIndex].length }
        let layout = TransplantLayout(
            movie, sizes: new, movieLength: box.length - without,
            leftOut: (try movie.samplesRanges(of: left)
                + (strip == .none ? [] : movie.descriptions.map(\.range)))
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
