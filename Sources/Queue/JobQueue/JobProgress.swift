/// The rendered part of a movie.
public struct JobProgress: Sendable, Codable, Equatable, CustomStringConvertible {
    /// The number of rendered frames; at most ``frames``.
    public let framesDone: Int
    /// The number of frames of the movie, at least one.
    public let frames: Int

    /// Creates a progress and clamps both numbers to their ranges.
    public init(framesDone: Int, frames: Int) {
        self.frames = max(frames, 1)
        self.framesDone = min(max(framesDone, 0), self.frames)
    }

    /// The description for people: `43 %, 1032 of 2400 frames`.
    public var description: String {
        "\(framesDone * 100 / frames) %, \(framesDone) of \(frames) frames"
    }
}
