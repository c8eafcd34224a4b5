import Glibc

/// The meaning of a gain map's codes: the conversion from a base picture to the picture for a brighter screen.
///
/// A code c, 0 to 1, stands for the gain g = min + (max − min)·c^(1/γ) in stops; with linear light b of the base,
///
///     alternate = (b + base offset)·2^g − alternate offset
///
/// Source: ISO 21496-1:2025 §5, the same formula as in Adobe's "Gain Map Specification" 1.0 and Ultra HDR 1.1.
public struct GainMapMetadata: Sendable, Codable, Equatable {
    /// The metadata of one channel.
    public struct Channel: Sendable, Codable, Equatable {
        /// Gains of the codes 0 and 1 in stops.
        public let min, max: Fraction
        /// The exponent of the codes.
        public let gamma: Fraction
        /// Light that is added to the base before the gain, and subtracted from the result.
        public let baseOffset, alternateOffset: Fraction

        /// Makes a channel.
        public init(
            min: Fraction, max: Fraction, gamma: Fraction = Fraction(1),
            baseOffset: Fraction = .sixtyFourth, alternateOffset: Fraction = .sixtyFourth
        ) {
            self.min = min
            self.max = max
            self.gamma = gamma
            self.baseOffset = baseOffset
            self.alternateOffset = alternateOffset
        }
    }

    /// One for a map with identical channels, or three.
    public let channels: [Channel]
    /// The headroom, in stops above white, of the screen for which the base is made: 0 for SDR.
    public let baseHeadroom: Fraction
    /// The headroom for the picture with the full gain.
    public let alternateHeadroom: Fraction
    /// Whether gains apply to light of the base's primaries, not of the alternate's.
    public let usesBaseColour: Bool

    /// Most stops of any gain or headroom: 2^±32 exceeds every screen.
    public static let stopsMax = 32.0
    /// Most light of an offset.
    public static let offsetMax = 1.0
    /// Valid exponents.
    public static let gammaRange = 0.01...100.0

    /// Creates metadata.
    ///
    /// - Returns: nil unless they describe a gain map from an SDR base: one or three channels, ranges that do not end before they
    ///   begin, numbers within the limits, a base that is not brighter than its alternate.
    public init?(
        channels: [Channel], baseHeadroom: Fraction, alternateHeadroom: Fraction,
        usesBaseColour: Bool = true
    ) {
        guard channels.count == 1 || channels.count == 3, channels.allSatisfy(\.isSound),
            baseHeadroom.value >= 0, alternateHeadroom.value > baseHeadroom.value,
            alternateHeadroom.value <= Self.stopsMax
        else { return nil }
        self.channels = channels
        self.baseHeadroom = baseHeadroom
        self.alternateHeadroom = alternateHeadroom
        self.usesBaseColour = usesBaseColour
    }

    /// Returns the metadata with other offsets; unchanged if those would exceed the limits.
    public func withOffsets(_ change: (Double) -> Double) -> GainMapMetadata {
        let channels = channels.map { channel in
            Channel(
                min: channel.min, max: channel.max, gamma: channel.gamma,
                baseOffset: Fraction(nearest: change(channel.baseOffset.value))
                    ?? channel.baseOffset,
                alternateOffset: Fraction(nearest: change(channel.alternateOffset.value))
                    ?? channel.alternateOffset)
        }
        return GainMapMetadata(
            channels: channels, baseHeadroom: baseHeadroom, alternateHeadroom: alternateHeadroom,
            usesBaseColour: usesBaseColour) ?? self
    }

    /// Returns the channel for red (0), green (1) or blue (2).
    public func channel(_ index: Int) -> Channel { channels[index < channels.count ? index : 0] }
}

extension GainMapMetadata.Channel {
    fileprivate var isSound: Bool {
        let stops = GainMapMetadata.stopsMax
        return abs(min.value) <= stops && abs(max.value) <= stops && min.value <= max.value
            && GainMapMetadata.gammaRange.contains(gamma.value)
            && abs(baseOffset.value) <= GainMapMetadata.offsetMax
            && abs(alternateOffset.value) <= GainMapMetadata.offsetMax
    }

    /// Returns the gain in stops of a code from 0 to 1.
    public func gain(ofCode code: Double) -> Double {
        min.value + (max.value - min.value) * pow(Swift.min(Swift.max(code, 0), 1), 1 / gamma.value)
    }

    /// Returns the code, 0 to 1, of a gain in stops; gains beyond the range are clamped.
    public func code(ofGain gain: Double) -> Double {
        let span = max.value - min.value
        guard span > 0, gain > min.value else { return 0 }
        return pow(Swift.min((gain - min.value) / span, 1), gamma.value)
    }

    /// The code of a pixel that is equally bright on every screen: gain 1.
    public var neutralCode: Double { code(ofGain: 0) }
}

extension Fraction {
    /// 1/64, the default offset in Adobe's specification.
    public static let sixtyFourth = Fraction(1, over: 64) ?? Fraction(0)
}
