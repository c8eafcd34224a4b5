/// A QuickTime or MPEG-4 movie: its `moov` as a value, and the ranges of all other boxes of the file.
public struct Movie: Sendable {
    /// The boxes of the file other than `moov`, in order.
    public let others: [Box]
    /// Those of ``others`` that describe the movie, by XMP or by metadata of the file.
    let descriptions: [Box]
    /// The byte range of `moov` in the file.
    public let movieRange: Range<Int>
    /// Whether the file's first brand is QuickTime's, or the file has none.
    public let isQuickTime: Bool
    public let tracks: [MovieTrack]
    /// The enabled video track.
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
        descriptions = others.filter { box in
            box.type == "meta" || box.type == "udta"
                || box.type == "uuid"
                    && file.bytes(box.content.lowerBound, MovieStrip.xmp.count).elementsEqual(
                        MovieStrip.xmp)
        }
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
