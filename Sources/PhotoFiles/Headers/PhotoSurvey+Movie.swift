public import Edits
public import RenderProtocol

extension PhotoSurvey {
    /// Reads `moov`, which is loaded completely. Frames are not read.
    mutating func readMovie(_ file: inout FileWindow) {
        do throws(MovieProblem) {
            let movie = try Movie(&file, limits: MovieLimits(limits))
            let size = movie.uprightSize
            setSize(size.width, size.height)
        } catch {
            movieProblem = error
        }
    }
}

extension MovieLimits {
    /// Creates the limits on movies from those on renders.
    public init(_ limits: RenderLimits) {
        self.init()
        boxes = limits.boxesMax
        tracks = limits.tracksMax
        movieFrames = limits.movieFramesMax
        movieSeconds = limits.movieSecondsMax
    }
}

extension Movie {
    /// The size of displayed frames.
    public var uprightSize: (width: Int, height: Int) {
        let (width, height) = video.frameSize
        return video.matrix?.swapsSides == true ? (height, width) : (width, height)
    }
}

extension Failure {
    /// Creates the failure for a movie that cannot be edited because of its tables.
    public init(_ problem: MovieProblem, of movie: String, _ limits: RenderLimits) {
        switch problem.kind {
        case .damaged:
            self.init(
                .damagedVideo,
                "\(movie) is a movie whose tables contradict each other: \(problem). Upload it again."
            )
        case .unsupported:
            self.init(
                .unsupportedFormat,
                "\(movie) is a movie that is not edited here: \(problem). Convert it; trying again does not help."
            )
        case .limit(let name, let found):
            guard let limit = RenderLimit(rawValue: name) else {
                self.init(
                    .exceedsLimit,
                    "\(movie) is a movie that is too large to be read: \(problem). Send a shorter one."
                )
                return
            }
            self = limits.refusal(limit, found, of: movie)
        }
    }
}
