extension Recipe {
    /// The output settings of a movie.
    public struct Movie: Sendable, Equatable {
        /// The codec of its frames.
        public var codec: Codec
        /// Quality, 0 to 1, on the scale of photos; nil for the output's quality.
        public var quality: Double?
        /// Whether its sound is omitted.
        public var mute: Bool
        /// Whether frames are stored upright, instead of being turned by the movie's matrix.
        public var bakeRotation: Bool
        /// The frame for previews, in seconds from the beginning; a time after the end selects the last frame.
        public var posterTime: Double

        /// The codec of frames.
        public enum Codec: String, Sendable, Codable, CaseIterable {
            /// HEVC if the original has it or has more than 8 bits, otherwise H.264, which all players support.
            case source
            /// H.264, of 8 bits.
            case h264
            /// HEVC, of 8 or 10 bits.
            case hevc
        }

        /// Makes settings.
        public init(
            codec: Codec = .source, quality: Double? = nil, mute: Bool = false,
            bakeRotation: Bool = false, posterTime: Double = 0
        ) {
            (self.codec, self.quality, self.mute) = (codec, quality, mute)
            (self.bakeRotation, self.posterTime) = (bakeRotation, posterTime)
        }
    }
}

extension Recipe.Movie {
    /// Latest frame for previews, in seconds: no movie is longer.
    public static let posterTimeMax = 86_400.0

    init(_ value: JSONValue) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: "edit.output.movie",
            known: ["bakeRotation", "codec", "mute", "posterTime", "quality"])
        self.init(
            codec: try reader.choice("codec") ?? .source,
            quality: try Self.number("quality", 0...1, reader),
            mute: try reader.flag("mute"),
            bakeRotation: try reader.flag("bakeRotation"),
            posterTime: try Self.number("posterTime", 0...Self.posterTimeMax, reader) ?? 0)
    }

    private static func number(
        _ name: String, _ range: ClosedRange<Double>, _ reader: JSONObjectReader
    ) throws(Failure) -> Double? {
        guard let value = reader.optional(name) else { return nil }
        guard case .number(let number) = value, range.contains(number) else {
            throw Failure(
                .invalidValue,
                "edit.output.movie.\(name) is \(value.canonical); expected a number from "
                    + "\(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// The JSON, with only the values that differ from the defaults.
    var json: JSONValue {
        var fields: [String: JSONValue] = [:]
        if codec != .source { fields["codec"] = .string(codec.rawValue) }
        fields["quality"] = quality.map { .number($0) }
        if mute { fields["mute"] = .bool(true) }
        if bakeRotation { fields["bakeRotation"] = .bool(true) }
        if posterTime != 0 { fields["posterTime"] = .number(posterTime) }
        return .object(fields)
    }
}
