/// Why a movie cannot be edited.
public struct MovieProblem: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Kind: Sendable, Equatable {
        /// The boxes contradict themselves, or name bytes that the file does not have.
        case damaged
        /// A kind of movie that is not edited here.
        case unsupported
        /// More than a limit of ``MovieLimits``, named as settings and sentences name it, and what was found.
        case limit(String, found: Int)
    }

    public let kind: Kind
    /// The fault, and with which value.
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

/// The most that a stranger's movie may cost before a frame of it is decoded.
public struct MovieLimits: Sendable {
    /// Boxes of the file and of `moov`, all levels together.
    public var boxes = 20_000
    /// Bytes of `moov`, which is held in memory: the tables of an hour take 8 MB.
    public var movieBoxBytes = 64 << 20
    /// Tracks: phones write up to nine.
    public var tracks = 32
    /// Frames of the video track: 20 minutes at 30 a second.
    public var movieFrames = 36_000
    /// Seconds that the video track lasts.
    public var movieSeconds = 3_600

    /// The usual limits.
    public init() {}
}
