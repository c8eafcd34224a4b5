public import Edits

/// The facts of a movie from its tables, before any frame is decoded.
public struct MovieFacts: Sendable, Codable, Equatable {
    /// `mov` or `mp4`. The result has the same container.
    public let container: Recipe.Format
    /// The codec of its frames, as named in the file: `hvc1`, `avc1` …
    public let codec: String
    /// The number of frames of the video track, including hidden ones.
    public let frames: Int
    /// The duration of the frames, in seconds.
    public let seconds: Double
    /// The number of parts that are decoded and encoded independently.
    public let segments: Int

    /// Creates a record; control characters are removed from the codec's name.
    public init(
        container: Recipe.Format, codec: String, frames: Int, seconds: Double, segments: Int
    ) {
        self.container = container
        self.codec = ReplyBounds.text(codec)
        (self.frames, self.seconds, self.segments) = (frames, seconds, segments)
    }
}

/// The plan of a movie's render.
public struct MoviePlan: Sendable, Codable, Equatable {
    /// The codec of the result's frames; nil if the samples are not changed.
    public let codec: Recipe.Movie.Codec?
    /// The number of frames, and of the parts in which they are rendered.
    public let frames: Int, segments: Int
    /// The likely need of one part. The plan's own estimate covers only the joining of the parts.
    public let segment: RenderEstimate

    /// Creates a plan.
    public init(
        codec: Recipe.Movie.Codec?, frames: Int, segments: Int, segment: RenderEstimate
    ) {
        (self.codec, self.frames, self.segments) = (codec, frames, segments)
        self.segment = segment
    }

    /// The processor time of all parts.
    public var cpuSeconds: Double { segment.cpuSeconds * Double(segments) }
}
