/// The reason why a movie cannot be edited.
public struct MovieProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable, Equatable {
        /// The boxes contradict each other, or declare bytes that the file does not have.
        case damaged
        /// An unsupported kind of movie.
        case unsupported
        /// A limit of ``MovieLimits`` is exceeded: its name in settings and messages, and the found value.
        case limit(String, found: Int)
    }

    public let kind: Kind
    /// The fault, and the value that causes it.
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
