/// How a movie is cut into parts that are decoded and encoded each by itself.
///
/// It follows from the movie's tables alone: the same on any machine, for any number of parts at a time, and after a crash.
public struct SegmentPlan: Sendable, Equatable {
    /// A part of a movie.
    public struct Segment: Sendable, Equatable {
        /// Samples that are decoded, by their ranks in the order of decoding; the first one is a sync sample.
        public let decoded: Range<Int>
        /// Frames that are encoded, by their ranks in the order in which they are shown. Other frames that come out of the decoder are
        /// another segment's.
        public let frames: Range<Int>
    }

    public let segments: [Segment]

    /// A segment lasts at least so long: with two of 2.5 s a file is 0.9 % larger, with one a second 23 %.
    public static let secondsMin = 8
    /// A movie has about so many segments at most, and one more: whoever joins them has all of their files open.
    public static let countMax = 96

    /// Cuts a movie.
    ///
    /// A segment has the frames that are shown from its sync sample on and before the next segment's. Pictures that are decoded behind a sync sample and shown
    /// before it (an open group, as iPhones write for HLG) belong to the segment before, which is decoded as far as the last of them.
    ///
    /// - Parameter isWhole: whether it stays one part, however long it is.
    /// - Throws: `damaged` where no sample can be decoded first.
    public init(
        _ samples: SampleTable, timeScale: Int, isWhole: Bool = false
    ) throws(MovieProblem) {
        guard samples.syncSamples.first == 0 else {
            throw .damaged("a video whose first sample cannot be decoded by itself")
        }
        let shown = samples.times.sorted()
        let duration = (shown.last ?? 0) - (shown.first ?? 0)
        let starts =
            isWhole
            ? [0]
            : Self.starts(
                samples,
                distance: max(
                    Self.secondsMin * timeScale, (duration + Self.countMax - 1) / Self.countMax))
        let borders = starts.dropFirst().map { samples.times[$0] }
        var segments: [Segment] = []
        var first = 0
        for (index, start) in starts.enumerated() {
            let border = index < borders.count ? borders[index] : nil
            // Times rise from one frame to the next, since that is where they are sorted.
            let end = border.map { border in Self.count(of: shown, below: border) } ?? shown.count
            let last = border.map { border in
                (samples.times.lastIndex { $0 < border } ?? start) + 1
            }
            segments.append(
                Segment(decoded: start..<max(start + 1, last ?? shown.count), frames: first..<end))
            first = end
        }
        self.segments = segments
    }

    /// Sync samples with which segments begin: shown at least so far from the one before, and after all frames of it.
    private static func starts(_ samples: SampleTable, distance: Int) -> [Int] {
        var starts = [0]
        for sync in samples.syncSamples.dropFirst()
        where samples.times[sync] - samples.times[starts[starts.count - 1]] >= distance {
            starts.append(sync)
        }
        return starts
    }

    private static func count(of sorted: [Int], below border: Int) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < border { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
