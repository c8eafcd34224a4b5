/// The rendered share of a movie.
public struct MovieProgress: Sendable, Equatable {
    /// The number of rendered frames.
    public let framesDone: Int
    /// The number of frames of the movie.
    public let frames: Int
}
