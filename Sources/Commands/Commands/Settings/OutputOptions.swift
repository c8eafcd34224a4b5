public import ArgumentParser
public import Edits

struct OutputOptions: ParsableArguments {
    @Option(help: "Quality of a lossy format, 0 to 1, as a JPEG's (default: 0.9).")
    var quality: Double?

    @Option(help: "Detail of colour: 4:4:4, 4:2:2 or 4:2:0 (default: as the original).")
    var chroma: Recipe.Chroma?

    @Flag(help: "Write a JPEG or PNG that shows coarsely first while it loads.")
    var progressive = false

    @Option(help: "Metadata to leave out: none, gps or all (default: none).")
    var strip: Recipe.Strip?

    @Option(help: "Colours of the result: source, srgb or displayP3 (default: source).")
    var colorSpace: Recipe.ColorSpace?

    @Option(help: "Bits of a sample: 8, 10, 12 or 16 (default: as the original where possible).")
    var bitDepth: Recipe.BitDepth?

    @Option(
        help: ArgumentHelp(
            "Compression of a PNG or TIFF: none (TIFF), fast or small (default: none for an uncompressed TIFF, "
                + "else fast)."))
    var compression: Recipe.Compression?

    @Option(
        help: ArgumentHelp(
            "What transparent parts are laid on in a format without alpha, in sRGB from 0 to 1 "
                + "(default: 1,1,1).",
            valueName: "red,green,blue"))
    var background: Recipe.Background?

    @Option(help: "The gain map of an HDR photo: keep, drop or require (default: keep).")
    var hdr: Recipe.HDR?

    @OptionGroup var movie: MovieOptions

    func applied(to output: Recipe.Output) throws -> Recipe.Output {
        var output = output
        if let quality {
            guard (0...1).contains(quality) else {
                throw ValidationError("--quality is \(quality); expected a number from 0 to 1.")
            }
            output.quality = quality
        }
        output.chroma = chroma ?? output.chroma
        output.progressive = progressive || output.progressive
        output.strip = strip ?? output.strip
        output.colorSpace = colorSpace ?? output.colorSpace
        output.bitDepth = bitDepth ?? output.bitDepth
        output.compression = compression ?? output.compression
        output.background = background ?? output.background
        output.hdr = hdr ?? output.hdr
        output.movie = try movie.applied(to: output.movie)
        return output
    }
}

// Argument Parser lists the values of an enum of strings by itself.
extension Recipe.Chroma: ExpressibleByArgument {}
extension Units: ExpressibleByArgument {}
extension Recipe.Strip: ExpressibleByArgument {}
extension Recipe.ColorSpace: ExpressibleByArgument {}
extension Recipe.Compression: ExpressibleByArgument {}
extension Recipe.HDR: ExpressibleByArgument {}
extension Recipe.BitDepth: ExpressibleByArgument {}

extension Recipe.Background: ExpressibleByArgument {
    public init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
            .map { Double($0) }
        guard parts.count == 3, let red = parts[0], let green = parts[1], let blue = parts[2],
            [red, green, blue].allSatisfy({ (0...1).contains($0) })
        else { return nil }
        self.init(red: red, green: green, blue: blue)
    }
}

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

struct MovieTime: ExpressibleByArgument {
    let seconds: Double

    init?(argument: String) {
        let digits = argument.hasSuffix("s") ? argument.dropLast() : argument[...]
        guard let seconds = Double(digits), (0...Recipe.Movie.posterTimeMax).contains(seconds)
        else { return nil }
        self.seconds = seconds
    }
}

extension Recipe.Movie.Codec: ExpressibleByArgument {}
