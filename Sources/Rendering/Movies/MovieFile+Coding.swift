import Adjustments
import Boxes
import Codecs
import RenderProtocol

extension MovieFile {
    /// The codec of the result: HEVC stays HEVC and more than 8 bits become it, all else becomes H.264, which all players know.
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

    /// The encoder's settings: the same for all parts.
    ///
    /// - Parameter layout: of the frames that are encoded.
    func settings(
        _ coding: MovieCoding, _ layout: FrameLayout
    ) -> VideoEncoder.Settings {
        let samples = movie.samples
        let units = (samples.decodeTimes.last ?? 0) + samples.lastDuration
        var settings = coding.settings(
            layout, unitsPerSecond: .init(movie.video.timeScale),
            framesPerSecond: Self.fraction(ranks.count * movie.video.timeScale, of: units),
            keyDistance: max(1, Int((rate * Self.keySeconds).rounded())))
        // A part of a hundred seconds at the source's rate would not tell more; an empty one tells nothing.
        let bits = Double(samples.sizes.reduce(0, +)) * 8 / max(seconds, Self.secondsMin)
        let most = Int(min(max(bits * Self.rateFactor, Self.rateMin), Self.rateMax))
        settings.rate = (max: most, buffer: most)
        return settings
    }

    /// Seconds from a key frame to the next at most.
    private static let keySeconds = 2.0
    /// The result has at most twice the source's bits for each second, and no less than a small picture needs.
    private static let rateFactor = 2.0
    private static let rateMin = 2e6
    private static let rateMax = 8e8
    private static let secondsMin = 0.04

    /// A positive fraction whose numbers have 31 bits.
    private static func fraction(_ numerator: Int, of denominator: Int) -> VideoEncoder.Fraction {
        var (numerator, denominator) = (max(1, numerator), max(1, denominator))
        while max(numerator, denominator) > Int(Int32.max) {
            (numerator, denominator) = (max(1, numerator >> 1), max(1, denominator >> 1))
        }
        return VideoEncoder.Fraction(numerator, of: denominator)
    }

    /// Refuses frames of another size or kind of samples than the tables say: the plan counts on that.
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

    /// An editor of the frames.
    func editor(_ photo: Photo, of layout: FrameLayout) throws(Failure) -> FrameEditor {
        try FrameEditor(
            photo.recipe, layout: layout, colour: colour(of: layout), upright: orientation,
            staysUpright: photo.recipe.output.movie.bakeRotation, limits: photo.opened.limits,
            resources: photo.opened.resources)
    }
}
