import Edits
import PhotoFiles
import Codecs
import RenderProtocol

extension MovieFile {
    /// Returns the codec of the result. HEVC stays HEVC, more than 8 bits become HEVC, and everything else becomes H.264, which all
    /// players support.
    ///
    /// - Throws: `invalidValue` for H.264 of more than 8 bits.
    func codec(
        for asked: Recipe.Movie.Codec, isDeep: Bool
    ) throws(Failure) -> VideoEncoder.Codec {
        switch asked {
        case .source: return codec.kind == .hevc || isDeep ? .hevc : .h264
        case .hevc: return .hevc
        case .h264:
            guard !isDeep else {
                throw Failure(
                    .invalidValue,
                    "edit.output.movie.codec is h264, but \(file.name) has more than 8 bits for each sample, which few players "
                        + "know in H.264. Ask for hevc, or leave it out.")
            }
            return .h264
        }
    }

    /// Returns the encoder's settings, which are the same for all parts.
    ///
    /// - Parameter layout: the layout of the encoded frames.
    func settings(
        _ coding: MovieCoding, _ layout: FrameLayout
    ) -> VideoEncoder.Settings {
        let samples = movie.samples
        let units = (samples.decodeTimes.last ?? 0) + samples.lastDuration
        var settings = coding.settings(
            layout, unitsPerSecond: .init(movie.video.timeScale),
            framesPerSecond: Self.fraction(ranks.count * movie.video.timeScale, of: units),
            keyDistance: max(1, Int((rate * Self.keySeconds).rounded())))
        // A duration below a frame's says nothing about the rate, so at least `secondsMin` is assumed.
        let bits = Double(samples.sizes.reduce(0, +)) * 8 / max(seconds, Self.secondsMin)
        let most = Int(min(max(bits * Self.rateFactor, Self.rateMin), Self.rateMax))
        settings.rate = (max: most, buffer: most)
        return settings
    }

    /// The longest distance between key frames, in seconds.
    private static let keySeconds = 2.0
    /// The result has at most twice the source's bits per second, but at least the minimum that a small picture needs.
    private static let rateFactor = 2.0
    private static let rateMin = 2e6
    private static let rateMax = 8e8
    private static let secondsMin = 0.04

    /// Returns a positive fraction whose numbers have 31 bits.
    private static func fraction(_ numerator: Int, of denominator: Int) -> VideoEncoder.Fraction {
        var (numerator, denominator) = (max(1, numerator), max(1, denominator))
        while max(numerator, denominator) > Int(Int32.max) {
            (numerator, denominator) = (max(1, numerator >> 1), max(1, denominator >> 1))
        }
        return VideoEncoder.Fraction(numerator, of: denominator)
    }

    /// Rejects frames whose size or sample type differs from the tables, because the plan relies on them.
    func check(_ layout: FrameLayout) throws(Failure) {
        let (width, height) = movie.video.frameSize
        guard (layout.width, layout.height) == (width, height) else {
            throw Failure(
                .damagedVideo,
                "\(file.name) is a movie whose frames have \(layout.width)×\(layout.height) pixels where its tables say "
                    + "\(width)×\(height). Convert it.")
        }
        guard (layout.bits > 8) == isDeep else {
            throw Failure(
                .damagedVideo,
                "\(file.name) is a movie whose frames have \(layout.bits) bits for each sample where its tables say "
                    + "\(isDeep ? "more than 8" : "8"). Convert it.")
        }
    }

    /// Creates an editor of the frames.
    func editor(_ photo: Photo, of layout: FrameLayout) throws(Failure) -> FrameEditor {
        try FrameEditor(
            photo.recipe, layout: layout, colour: colour(of: layout), upright: orientation,
            staysUpright: photo.recipe.output.movie.bakeRotation, limits: photo.opened.limits,
            resources: photo.opened.resources)
    }
}
