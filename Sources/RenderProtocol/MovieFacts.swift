public import Adjustments

/// Facts of a movie by its tables, before a frame is decoded.
public struct MovieFacts: Sendable, Codable, Equatable {
    /// `mov` or `mp4`: it keeps its own.
    public let container: Recipe.Format
    /// The codec of its frames, as the file calls it: `hvc1`, `avc1` …
    public let codec: String
    /// Frames of the video track, hidden ones among them.
    public let frames: Int
    /// How long they last.
    public let seconds: Double
    /// Parts that are decoded and encoded each by itself.
    public let segments: Int

    /// Makes a record; the codec's name becomes plain.
    public init(
        container: Recipe.Format, codec: String, frames: Int, seconds: Double, segments: Int
    ) {
        self.container = container
        self.codec = ReplyBounds.text(codec)
        (self.frames, self.seconds, self.segments) = (frames, seconds, segments)
    }
}

/// How a movie is rendered.
public struct MoviePlan: Sendable, Codable, Equatable {
    /// The codec of the result's frames; nil where samples stay as they are.
    public let codec: Recipe.Movie.Codec?
    /// Frames, and the parts in which they are rendered.
    public let frames: Int, segments: Int
    /// The likely need of a part; the plan's own estimate is of joining them.
    public let segment: RenderEstimate

    /// Makes a plan.
    public init(
        codec: Recipe.Movie.Codec?, frames: Int, segments: Int, segment: RenderEstimate
    ) {
        (self.codec, self.frames, self.segments) = (codec, frames, segments)
        self.segment = segment
    }

    /// Processor time of all parts.
    public var cpuSeconds: Double { segment.cpuSeconds * Double(segments) }
}
