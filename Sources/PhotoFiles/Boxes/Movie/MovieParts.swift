/// The division of a movie into parts that are decoded and encoded independently.
///
/// It depends only on the movie's tables: it is the same on any machine, for any number of concurrent parts, and after a crash.
public struct MovieParts: Sendable, Equatable {
    /// A part of a movie.
    public struct Part: Sendable, Equatable {
        /// The samples to decode, in decoding order; the first one is a sync sample.
        public let decoded: Range<Int>
        /// The frames to encode, in presentation order. Other decoded frames belong to another part.
        public let frames: Range<Int>
    }

    public let parts: [Part]

    /// The least duration of a part in seconds: with two parts of 2.5 s a file is 0.9 % larger, with one part a second 23
    /// %.
    public static let secondsMin = 8
    /// A movie has at most about this many parts, plus one, because the process that joins them keeps all their files open.
    public static let countMax = 96

    /// Divides a movie.
    ///
    /// A part has the frames that are shown from its sync sample on and before the next part's. Pictures that are decoded
    /// after a sync sample and shown before it (an open group, as iPhones write for HLG) belong to the previous part, which is
    /// decoded up to the last of them.
    ///
    /// - Parameter isWhole: whether it remains one part, of any length.
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
        var parts: [Part] = []
        var first = 0
        for (index, start) in starts.enumerated() {
            let border = index < borders.count ? borders[index] : nil
            // Presentation times rise from one frame to the next, because the frames are sorted by them.
            let end = border.map { border in Self.count(of: shown, below: border) } ?? shown.count
            let last = border.map { border in
                (samples.times.lastIndex { $0 < border } ?? start) + 1
            }
            parts.append(
                Part(decoded: start..<max(start + 1, last ?? shown.count), frames: first..<end))
            first = end
        }
        self.parts = parts
    }

    /// Returns the sync samples with which parts begin: each is shown at least this time after the previous one, and after all
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
