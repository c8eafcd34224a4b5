/// The encoding of a movie's frames: codec and quality.
public struct MovieCoding: Sendable, Equatable {
    /// The quality of the pictures.
    public enum Quality: Sendable, Equatable {
        /// Lossless.
        case lossless
        /// The encoder's constant rate factor: lower is better.
        case rate(Double)
    }

    public var codec: VideoEncoder.Codec
    public var quality: Quality

    /// Makes a coding.
    public init(_ codec: VideoEncoder.Codec, _ quality: Quality) {
        (self.codec, self.quality) = (codec, quality)
    }

    /// Creates a coding with a quality from 0 to 1, in hundredths of a JPEG's quality.
    public init(_ codec: VideoEncoder.Codec, quality: Double) {
        self.init(codec, .rate(Self.rate(quality, codec)))
    }

    /// The encoder's settings for a part of a movie.
    ///
    /// Parts with the same settings have the same parameter sets, so that they can be concatenated in a file.
    ///
    /// - Parameters:
    ///   - units: time units per second, in which the times of frames are sent.
    ///   - frames: frames per second, the mean of the whole movie.
    ///   - keyDistance: the most frames from one key frame to the next.
    public func settings(
        _ layout: FrameLayout, unitsPerSecond units: VideoEncoder.Fraction,
        framesPerSecond frames: VideoEncoder.Fraction, keyDistance: Int
    ) -> VideoEncoder.Settings {
        var settings = VideoEncoder.Settings(layout)
        (settings.unitsPerSecond, settings.framesPerSecond) = (units, frames)
        settings.keyDistance = keyDistance
        settings.options = options
        return settings
    }

    private var options: [(name: String, value: String)] {
        var parameters = codec == .h264 ? Self.h264Parameters : Self.hevcParameters
        // A forced key frame must be an IDR frame, at which decoding can begin.
        var options = [("preset", preset), ("forced-idr", "1")]
        switch (quality, codec) {
        case (.rate(let rate), _): options.append(("crf", "\(rate)"))
        case (.lossless, .h264): options.append(("qp", "0"))
        case (.lossless, .hevc): parameters.append("lossless=1")
        }
        let name = codec == .h264 ? "x264-params" : "x265-params"
        options.append((name, parameters.joined(separator: ":")))
        return options
    }

    /// The encoder's speed preset.
    ///
    /// Measured with 48 frames of 1920 × 1080, a panned photo with noise, one thread, rate 18; CPU milliseconds a frame, kilobytes,
    /// SSIM of luma:
    ///
    /// | | ms | KB | SSIM |
    /// |---|---|---|---|
    /// | x264 superfast | 21 | 3,107 | .8896 |
    /// | **x264 veryfast** | 28 | 1,240 | .8871 |
    /// | x264 faster | 45 | 1,547 | .8890 |
    /// | x264 medium | 70 | 1,916 | .8891 |
    /// | x265 ultrafast, 10 bit | 46 | 496 | .8787 |
    /// | **x265 superfast, 10 bit** | 75 | 1,044 | .8841 |
    /// | x265 veryfast, 10 bit | 105 | 1,330 | .8903 |
    ///
    /// `superfast` of x264 has no macroblock-tree rate control, and needs 2.5 times the bytes of `veryfast`; slower presets need
    /// more bytes and more time. Decoding took 9 ms a frame (H.264, 17 Mb/s) and 11 ms (a phone's HLG, 10 bit).
    private var preset: String { codec == .h264 ? "veryfast" : "superfast" }

    /// One thread, parameter sets that do not depend on the pictures, and no code that differs between processors.
    ///
    /// `cpu-independent` keeps the macroblock tree from code with AVX-512, which handles eight macroblocks at a time. In a frame whose
    /// width is no multiple of them, it reads beyond the last row's costs and motion vectors, and takes what it finds there, left by
    /// whatever ran before, into the macroblocks at the right (x264 0.164 of 2022 and of 2024, `mbtree_propagate_list_internal`). It
    /// also makes code for other processors round alike, so bytes do not depend on the machine. It takes 2 % of the encoder's time.
    private static let h264Parameters = [
        "threads=1", "lookahead-threads=1", "sliced-threads=0", "sync-lookahead=0", "open-gop=0",
        "stitchable=1", "cpu-independent=1",
    ]

    /// One thread besides the caller's; no log output, and nothing in the stream but pictures.
    private static let hevcParameters = [
        "pools=none", "frame-threads=1", "wpp=0", "open-gop=0", "opt-qp-pps=0",
        "opt-ref-list-length-pps=0", "info=0", "log-level=none", "repeat-headers=0",
    ]

    /// Qualities, and the rates at which frames have the SSIM of luma of a JPEG of that quality, by libjpeg-turbo, 4:2:0.
    ///
    /// They are the means of seven photos, panned in 24 frames of 1280 × 720 with different noise in each, at fifteen rates; x265
    /// with 10 bits. Photos differ by up to ±5 at 80 and ±1 at 95.
    private static let qualities: [Double] = [0, 10, 30, 50, 60, 70, 80, 85, 90, 95, 98, 100]
    private static let h264Rates: [Double] = [
        51, 38.1, 30.3, 26.7, 25, 22.5, 19.7, 18.1, 15.9, 12.5, 7.3, 2.2,
    ]
    private static let hevcRates: [Double] = [
        51, 44, 33.6, 29.2, 27.4, 24.8, 19.5, 17.5, 14.8, 10.2, 5.3, 2,
    ]

    private static func rate(_ quality: Double, _ codec: VideoEncoder.Codec) -> Double {
        let rates = codec == .h264 ? h264Rates : hevcRates
        let wanted = min(max(quality * 100, 0), 100)
        let above = max(1, qualities.firstIndex { $0 >= wanted } ?? qualities.count - 1)
        let share = (wanted - qualities[above - 1]) / (qualities[above] - qualities[above - 1])
        return rates[above - 1] + share * (rates[above] - rates[above - 1])
    }
}
