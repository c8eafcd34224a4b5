public import Edits
public import ArgumentParser

/// The flags for the output of a movie.
struct MovieOptions: ParsableArguments {
    @Option(help: "What a movie's frames are coded by: source, h264 or hevc (default: source).")
    var movieCodec: Recipe.Movie.Codec?

    @Option(help: "Quality of a movie, 0 to 1 (default: --quality).")
    var movieQuality: Double?

    @Flag(help: "Leave a movie's sound out.")
    var mute = false

    @Flag(help: "Turn a movie's frames upright, instead of showing them so by its matrix.")
    var bakeRotation = false

    @Option(
        help: ArgumentHelp(
            "The frame of a movie that pictures show, in seconds from the beginning, such as 1.5s (default: 0s).",
            valueName: "seconds"))
    var at: MovieTime?

    /// Returns a movie's own settings, overridden by the flags.
    func applied(to movie: Recipe.Movie) throws -> Recipe.Movie {
        var movie = movie
        if let movieQuality {
            guard (0...1).contains(movieQuality) else {
                throw ValidationError(
                    "--movie-quality is \(movieQuality); expected a number from 0 to 1.")
            }
            movie.quality = movieQuality
        }
        movie.codec = movieCodec ?? movie.codec
        movie.mute = mute || movie.mute
        movie.bakeRotation = bakeRotation || movie.bakeRotation
        movie.posterTime = at?.seconds ?? movie.posterTime
        return movie
    }
}

/// A time in a movie.
struct MovieTime: ExpressibleByArgument {
    /// The seconds from the beginning.
    let seconds: Double

    init?(argument: String) {
        let digits = argument.hasSuffix("s") ? argument.dropLast() : argument[...]
        guard let seconds = Double(digits), (0...Recipe.Movie.posterTimeMax).contains(seconds)
        else { return nil }
        self.seconds = seconds
    }
}

extension Recipe.Movie.Codec: ExpressibleByArgument {}
