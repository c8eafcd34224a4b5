/// The division of a movie into segments that are decoded and encoded independently.
///
/// It depends only on the movie's tables: it is the same on any machine, for any number of concurrent segments, and after a crash.
public struct SegmentPlan: Sendable, Equatable {
    /// A segment of a movie.
    public struct Segment: Sendable, Equatable {
        /// The samples to decode, in decoding order; the first one is a sync sample.
        public let decoded: Range<Int>
        /// The frames to encode, in presentation order. Other decoded frames belong to another segment.
        public let frames: Range<Int>
    }

    public let segments: [Segment]

    /// The least duration of a segment in seconds: with two segments of 2.5 s a file is 0.9 % larger, with one segment a second 23
    /// %.
    public static let secondsMin = 8
    /// A movie has at most about this many segments, plus one, because the process that joins them keeps all their files open.
    public static let countMax = 96

    /// Divides a movie.
    ///
    /// A segment has the frames that are shown from its sync sample on and before the next segment's. Pictures that are decoded
    /// after a sync sample and shown before it (an open group, as iPhones write for HLG) belong to the previous segment, which is
    /// decoded up to the last of them.
    ///
    /// - Parameter isWhole: whether it remains one segment, of any length.
    /// - Throws: `damaged` if decoding can begin at no sample.
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
            // Presentation times rise from one frame to the next, because the frames are sorted by them.
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

    /// Returns the sync samples with which segments begin: each is shown at least this time after the previous one, and after all
    /// frames before it.
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
