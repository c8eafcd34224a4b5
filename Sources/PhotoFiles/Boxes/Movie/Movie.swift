/// A QuickTime or MPEG-4 movie: its `moov` as a value, and the ranges of all other boxes of the file.
public struct Movie: Sendable {
    /// The boxes of the file other than `moov`, in order.
    public let others: [Box]
    /// Those of ``others`` that have neither media nor their type: XMP, metadata of the file, what a camera puts there.
    let descriptions: [Box]
    /// Those of ``others`` with Content Credentials, which no edited movie keeps.
    public let credentials: [Box]
    /// The byte range of `moov` in the file.
    public let movieRange: Range<Int>
    /// Whether the file's first brand is QuickTime's, or the file has none.
    public let isQuickTime: Bool
    public let tracks: [MovieTrack]
    public let video: MovieTrack
    /// Other enabled video tracks, which no ``Transplant`` keeps: in a motion photo, whose first one is presented.
    public let otherVideos: [MovieTrack]
    /// The samples of ``video``.
    public let samples: SampleTable
    /// Length of the file in bytes.
    public let length: Int
    let box: MovieBox

    /// Reads a file's boxes, and the tables of its video track.
    ///
    /// - Parameter isMotionPhoto: whether it may have several video tracks. The track with the lowest number is presented; others
    ///   have single frames of more pixels (Google, "Motion Photo format 1.0").
    /// - Throws: ``MovieProblem``, before any frame is read.
    public init(
        _ file: inout FileWindow, limits: MovieLimits = MovieLimits(), isMotionPhoto: Bool = false
    ) throws(MovieProblem) {
        let top = file.boxes(in: 0..<file.length, atMost: limits.boxes + 1)
        guard top.count <= limits.boxes else { throw .limit("boxes", top.count, limits.boxes) }
        if let cut = top.first(where: \.isCutOff) {
            throw .damaged("the file ends within its box \(cut.type)")
        }
        guard top.last?.range.upperBound == file.length else {
            throw .damaged(
                "what follows the last box is none, from byte \(top.last?.range.upperBound ?? 0)")
        }
        if top.contains(where: { ["moof", "styp", "sidx", "mfra"].contains($0.type) }) {
            throw .unsupported("a fragmented movie; remux it into one piece")
        }
        let movies = top.filter { $0.type == "moov" }
        guard movies.count == 1 else { throw .damaged("\(movies.count) boxes moov") }
        others = top.filter { $0.type != "moov" }
        descriptions = others.filter { !MovieStrip.media.contains($0.type) }
        credentials = others.filter { C2PA.isUUID($0, &file) }
        length = file.length
        movieRange = movies[0].range
        if let first = others.first, first.type == "ftyp" {
            isQuickTime = file.has("qt  ", at: first.content.lowerBound)
        } else {
            isQuickTime = true
        }
        let content = movies[0].content
        guard content.count <= limits.movieBoxBytes else {
            throw .limit("movieBoxBytes", content.count, limits.movieBoxBytes)
        }
        var count = top.count
        let box = try MovieBox("moov", file.all(content)[...], limits, count: &count)
        self.box = box
        if box.boxes.contains(where: { $0.type == "mvex" }) {
            throw .unsupported("a fragmented movie; remux it into one piece")
        }
        if box["cmov"] != nil { throw .unsupported("a moov that is compressed") }
        tracks = try Self.tracks(of: box, limits)
        let enabled = tracks.filter { $0.handler == "vide" && $0.isEnabled }
            .sorted { ($0.id, $0.boxIndex) < ($1.id, $1.boxIndex) }
        // A track without samples shows nothing; if it is the only one, it is reported as damage.
        let filled = enabled.filter { !$0.isEmpty }
        let shown = filled.isEmpty ? enabled : filled
        guard shown.count < 2 || isMotionPhoto else {
            throw .unsupported("\(shown.count) video tracks that are shown")
        }
        otherVideos = Array(shown.dropFirst())
        video = try Self.checked(shown.first)
        let table = box.boxes[video.boxIndex]["mdia", "minf", "stbl"]
        guard let table else { throw .damaged("a video track without tables") }
        samples = try SampleTable(table, limits)
        try check(limits)
    }

    private static func tracks(
        of box: MovieBox, _ limits: MovieLimits
    ) throws(MovieProblem) -> [MovieTrack] {
        let boxIndices = box.boxes.indices.filter { box.boxes[$0].type == "trak" }
        guard boxIndices.count <= limits.tracks else {
            throw .limit("tracks", boxIndices.count, limits.tracks)
        }
        var tracks: [MovieTrack] = []
        for boxIndex in boxIndices {
            tracks.append(try MovieTrack(box.boxes[boxIndex], at: boxIndex))
        }
        return tracks
    }

    /// Returns the video track to be edited, or throws if it cannot be edited.
    private static func checked(_ video: MovieTrack?) throws(MovieProblem) -> MovieTrack {
        guard let video else { throw .unsupported("no video track that is shown") }
        guard video.isSelfContained else {
            throw .unsupported("a video track whose samples are in another file")
        }
        guard video.formats.count == 1 else {
            throw .unsupported("a video track of \(video.formats.count) kinds of samples")
        }
        guard video.formats[0] != "encv" else {
            throw .unsupported("a video track that is encrypted")
        }
        return video
    }

    /// Most time units per second: encoders count them in 31 bits.
    private static let timeScaleMax = Int(Int32.max)

    /// Checks that the samples are within the file's media data, do not overlap, and do not exceed the allowed duration.
    private func check(_ limits: MovieLimits) throws(MovieProblem) {
        guard !samples.sizes.isEmpty else { throw .damaged("a video track without samples") }
        guard (1...Self.timeScaleMax).contains(video.timeScale), video.width > 0, video.height > 0
        else {
            throw .damaged(
                "a video track of \(video.width) × \(video.height) at \(video.timeScale) units a second"
            )
        }
        let (width, height) = video.frameSize
        guard width > 0, height > 0 else {
            throw .damaged("a video track whose frames have \(width) × \(height) pixels")
        }
        let end = (samples.decodeTimes.last ?? 0) + samples.lastDuration
        guard end / video.timeScale <= limits.movieSeconds else {
            throw .limit("movieSeconds", end / video.timeScale, limits.movieSeconds)
        }
        let media = others.filter { $0.type == "mdat" }.map(\.content)
        var before = 0
        for range in samples.chunks.map({ samples.range(of: $0) }).sorted(by: {
            $0.lowerBound < $1.lowerBound
        }) {
            guard range.lowerBound >= before,
                media.contains(where: {
                    $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound
                })
            else { throw .damaged("samples at \(range), over others or outside of the media data") }
            before = range.upperBound
        }
    }
}

extension Movie {
    /// Returns the byte ranges of some tracks' samples in the file, in order, without bytes that another track shares.
    ///
    /// A chunk extends to the next one of any track, or to the end of its media data: the meaning of PCM's sizes depends on the
    /// sample description, and bytes between chunks belong to no track.
    func samplesRanges(of tracks: [MovieTrack]) throws(MovieProblem) -> [Range<Int>] {
        guard !tracks.isEmpty else { return [] }
        let boxIndices = Set(tracks.map(\.boxIndex))
        var chunks: [(offset: Int, isWanted: Bool)] = []
        for track in self.tracks {
            guard let table = box.boxes[track.boxIndex]["mdia", "minf", "stbl"],
                table["stco"] != nil || table["co64"] != nil
            else { continue }
            let isWanted = boxIndices.contains(track.boxIndex)
            for offset in try SampleTable.chunkOffsets(of: table) {
                chunks.append((offset, isWanted))
            }
        }
        chunks.sort { $0.offset < $1.offset }
        let media = others.filter { $0.type == "mdat" }.map(\.content)
        var ranges: [Range<Int>] = []
        var index = 0
        while index < chunks.count {
            let offset = chunks[index].offset
            let same = chunks[index...].prefix { $0.offset == offset }
            index += same.count
            guard same.allSatisfy(\.isWanted),
                let data = media.overlapping(offset..<offset + 1).first
            else { continue }
            let next = index < chunks.count ? chunks[index].offset : .max
            ranges.append(offset..<min(next, data.upperBound))
        }
        return ranges
    }

    /// Returns the bytes of media data that belong to no track: before, between and behind chunks, as far as the tables tell where those end.
    /// Cameras of cars write places there. In order, and disjoint from ``samplesRanges(of:)`` of the same tracks.
    ///
    /// - Parameter left: the tracks that are removed, with what follows their chunks.
    func gaps(beside left: [MovieTrack]) throws(MovieProblem) -> [Range<Int>] {
        let leftOut = Set(left.map(\.boxIndex))
        var chunks: [(start: Int, end: Int?)] = []
        for track in tracks {
            guard let table = box.boxes[track.boxIndex]["mdia", "minf", "stbl"],
                table["stco"] != nil || table["co64"] != nil
            else { continue }
            let starts = try SampleTable.chunkOffsets(of: table)
            var ends: [Int]?
            if track.boxIndex == video.boxIndex {
                ends = samples.chunks.map { samples.range(of: $0).upperBound }
            } else if !leftOut.contains(track.boxIndex) {
                ends = SampleTable.chunkEnds(of: table, ofSound: track.handler == "soun")
            }
            for (index, start) in starts.enumerated() { chunks.append((start, ends?[index])) }
        }
        chunks.sort { $0.start < $1.start }
        var (gaps, rest) = ([Range<Int>](), chunks[...])
        for data in others.filter({ $0.type == "mdat" }).map(\.content) {
            rest = rest.drop { $0.start < data.lowerBound }
            let inside = rest.prefix { $0.start < data.upperBound }
            rest = rest.dropFirst(inside.count)
            gaps += Self.gaps(in: data, Array(inside))
        }
        return gaps
    }

    /// - Parameter chunks: sorted by their start; one whose end is unknown extends to the next one.
    private static func gaps(
        in data: Range<Int>, _ chunks: [(start: Int, end: Int?)]
    ) -> [Range<Int>] {
        var nexts = [Int](repeating: data.upperBound, count: chunks.count)
        for index in chunks.indices.dropLast().reversed() {
            let next = chunks[index + 1].start
            nexts[index] = next > chunks[index].start ? next : nexts[index + 1]
        }
        var (gaps, covered) = ([Range<Int>](), data.lowerBound)
        for (chunk, next) in zip(chunks, nexts) {
            if chunk.start > covered { gaps.append(covered..<chunk.start) }
            // An empty chunk keeps a byte, which its offset points to.
            covered = max(covered, chunk.start + 1, chunk.end ?? next)
        }
        if covered < data.upperBound { gaps.append(covered..<data.upperBound) }
        return gaps
    }
}

extension [Range<Int>] {
    /// Returns the ranges that overlap a range. The array must be sorted and disjoint.
    func overlapping(_ range: Range<Int>) -> ArraySlice<Range<Int>> {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound <= range.lowerBound {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return self[low...].prefix { $0.lowerBound < range.upperBound }
    }
}

/// The reason why a movie cannot be edited.
public struct MovieProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable, Equatable {
        /// The boxes contradict each other, or declare bytes that the file does not have.
        case damaged
        case unsupported
        /// A limit of ``MovieLimits`` is exceeded: its name in settings and messages, and the found value.
        case limit(String, found: Int)
    }

    public let kind: Kind
    public let description: String

    static func damaged(_ text: String) -> MovieProblem {
        MovieProblem(kind: .damaged, description: text)
    }

    static func unsupported(_ text: String) -> MovieProblem {
        MovieProblem(kind: .unsupported, description: text)
    }

    static func limit(_ name: String, _ found: Int, _ most: Int) -> MovieProblem {
        MovieProblem(
            kind: .limit(name, found: found), description: "\(name) is \(found); at most \(most)")
    }
}

/// The limits for an untrusted movie before a frame of it is decoded.
public struct MovieLimits: Sendable {
    /// Boxes of the file and of `moov`, all levels together.
    public var boxes = 20_000
    /// Bytes of `moov`, which is held in memory: the tables of an hour take 8 MB.
    public var movieBoxBytes = 64 << 20
    /// Tracks: phones write up to nine.
    public var tracks = 32
    /// Frames of the video track: 20 minutes at 30 a second.
    public var movieFrames = 36_000
    /// The duration of the video track in seconds.
    public var movieSeconds = 3_600

    /// The default limits.
    public init() {}
}

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
