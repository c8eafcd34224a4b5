/// How much of a movie is rendered.
public struct JobProgress: Sendable, Codable, Equatable, CustomStringConvertible {
    /// Frames that are done; at most all of them.
    public let framesDone: Int
    /// Frames of the movie, at least one.
    public let frames: Int

    /// Frames that are done, of so many.
    public init(framesDone: Int, frames: Int) {
        self.frames = max(frames, 1)
        self.framesDone = min(max(framesDone, 0), self.frames)
    }

    /// For people: `43 %, 1032 of 2400 frames`.
    public var description: String {
        "\(framesDone * 100 / frames) %, \(framesDone) of \(frames) frames"
    }
}
