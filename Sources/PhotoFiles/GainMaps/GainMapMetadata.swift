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

    public let channels: [Channel]
    /// The headroom, in stops above white, of the screen for which the base is made: 0 for SDR.
    public let baseHeadroom: Fraction
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

extension GainMapMetadata {
    /// Reads Adobe's properties in a map's XMP packet; nil if there are none, if the base is the HDR picture, and if they are
    /// invalid.
    ///
    /// A missing property has its default. Source: Adobe, "Gain Map Specification" 1.0, §"Gain map metadata".
    public init?(hdrgm packet: [UInt8]) {
        func values(_ name: String, _ missing: Fraction?) -> [Fraction]? {
            let texts = XMP.values("hdrgm:" + name, in: packet)
            guard !texts.isEmpty else { return missing.map { [$0] } }
            let numbers = texts.compactMap(Fraction.init(text:))
            return numbers.count == texts.count && [1, 3].contains(numbers.count) ? numbers : nil
        }
        guard XMP.hasGainMap(packet),
            XMP.values("hdrgm:BaseRenditionIsHDR", in: packet).first?.lowercased() != "true",
            let min = values("GainMapMin", Fraction(0)), let max = values("GainMapMax", nil),
            let gamma = values("Gamma", Fraction(1)),
            let base = values("OffsetSDR", .sixtyFourth),
            let alternate = values("OffsetHDR", .sixtyFourth),
            let low = values("HDRCapacityMin", Fraction(0))?.first,
            let high = values("HDRCapacityMax", nil)?.first
        else { return nil }
        let lists = [min, max, gamma, base, alternate]
        self.init(
            channels: (0..<(lists.map(\.count).max() ?? 1)).map { index in
                let channel = lists.map { $0[index < $0.count ? index : 0] }
                return Channel(
                    min: channel[0], max: channel[1], gamma: channel[2], baseOffset: channel[3],
                    alternateOffset: channel[4])
            },
            baseHeadroom: low, alternateHeadroom: high)
    }

    public var hdrgm: [UInt8] {
        let fields: [(String, (Channel) -> Fraction)] = [
            ("GainMapMin", \.min), ("GainMapMax", \.max), ("Gamma", \.gamma),
            ("OffsetSDR", \.baseOffset), ("OffsetHDR", \.alternateOffset),
        ]
        var attributes = [#"hdrgm:Version="1.0""#]
        var elements: [String] = []
        for (name, number) in fields {
            let texts = channels.map { "\(number($0).value)" }
            if texts.count == 1 {
                attributes.append(#"hdrgm:\#(name)="\#(texts[0])""#)
            } else {
                let items = texts.map { "<rdf:li>\($0)</rdf:li>" }.joined()
                elements.append("<hdrgm:\(name)><rdf:Seq>\(items)</rdf:Seq></hdrgm:\(name)>")
            }
        }
        attributes += [
            #"hdrgm:HDRCapacityMin="\#(baseHeadroom.value)""#,
            #"hdrgm:HDRCapacityMax="\#(alternateHeadroom.value)""#,
            #"hdrgm:BaseRenditionIsHDR="False""#,
        ]
        return XMP.packet(
            of: """
                <rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" \
                \(attributes.joined(separator: " "))>\(elements.joined())</rdf:Description>
                """)
    }

    /// Bits of the flags. Source: ISO 21496-1:2025 annex C.
    private enum Flag {
        static let threeChannels = 0x80
        static let usesBaseColour = 0x40
        /// All numbers share one denominator (libultrahdr writes this for some maps).
        static let commonDenominator = 0x08
    }

    /// The prefix of such a segment of a JPEG: the URN and its terminator.
    public static let signature: [UInt8] = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)

    /// The minimum version for readers and the writer's version: the whole segment of the base.
    public static let isoVersion: [UInt8] = [0, 0, 0, 0]

    /// Reads the bytes of ISO 21496-1, from the versions on; nil for a later version and for invalid metadata.
    public init?(iso bytes: some Collection<UInt8>) {
        var reader = ByteCursor(bytes)
        guard reader.number(2) == 0, reader.number(2) != nil, let flags = reader.number(1) else {
            return nil
        }
        func unsigned() -> UInt32? { reader.number(4).map(UInt32.init) }
        let isCommon = flags & Flag.commonDenominator != 0
        let common = isCommon ? unsigned() : nil
        guard isCommon == (common != nil) else { return nil }
        func fraction(isSigned: Bool) -> Fraction? {
            guard let number = unsigned(), let below = common ?? unsigned() else { return nil }
            let above = isSigned ? Int32(bitPattern: number) : Int32(exactly: number)
            guard let above else {
                // A numerator of 32 bits loses its last bit, and so does its denominator.
                return Fraction(Int32(number >> 1), over: below >> 1)
            }
            return Fraction(above, over: below)
        }
        guard let base = fraction(isSigned: false), let alternate = fraction(isSigned: false)
        else { return nil }
        var channels: [Channel] = []
        for _ in 0..<(flags & Flag.threeChannels != 0 ? 3 : 1) {
            guard let min = fraction(isSigned: true), let max = fraction(isSigned: true),
                let gamma = fraction(isSigned: false), let baseOffset = fraction(isSigned: true),
                let alternateOffset = fraction(isSigned: true)
            else { return nil }
            channels.append(
                Channel(
                    min: min, max: max, gamma: gamma, baseOffset: baseOffset,
                    alternateOffset: alternateOffset))
        }
        self.init(
            channels: channels, baseHeadroom: base, alternateHeadroom: alternate,
            usesBaseColour: flags & Flag.usesBaseColour != 0)
    }

    /// Reads the data of an item `tmap`, which begin with a version of their own (ISO/IEC 23008-12:2025 §6.6.2.4).
    public init?(tmap bytes: some Collection<UInt8>) {
        guard bytes.first == 0 else { return nil }
        self.init(iso: bytes.dropFirst())
    }

    /// The bytes of ISO 21496-1: 61 for one channel, 141 for three.
    public var iso: [UInt8] {
        var bytes = Self.isoVersion
        bytes.append(
            UInt8(
                (channels.count == 3 ? Flag.threeChannels : 0)
                    | (usesBaseColour ? Flag.usesBaseColour : 0)))
        for fraction in [baseHeadroom, alternateHeadroom] + channels.flatMap(\.fractions) {
            for number in [UInt32(bitPattern: fraction.numerator), fraction.denominator] {
                bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
            }
        }
        return bytes
    }
}

extension GainMapMetadata.Channel {
    fileprivate var fractions: [Fraction] { [min, max, gamma, baseOffset, alternateOffset] }
}

/// The declarations of a HEIF about its gain map.
public enum HEIFGainMap {
    /// Returns the name of the auxiliary picture.
    ///
    /// Under Apple's name, readers before iOS 18 interpret its codes by Apple's formula. So only maps whose gains are close to that
    /// formula have it: those of iOS 18 (γ 0.732 for 1.478 stops) are within 0.03 stops. All others have Samsung's name, whose XMP
    /// contains all numbers.
    public static func name(of metadata: GainMapMetadata) -> String {
        isLikeApple(metadata)
            ? "urn:com:apple:photo:2020:aux:hdrgainmap"
            : "urn:com:samsung:photo:2024:aux:hdrgainmap"
    }

    private static func isLikeApple(_ metadata: GainMapMetadata) -> Bool {
        let channel = metadata.channel(0)
        guard metadata.channels.count == 1, channel.min.value == 0,
            metadata.baseHeadroom.value == 0,
            abs(channel.max.value - metadata.alternateHeadroom.value) < stopsRounded,
            let apple = AppleGainMap(headroom: exp2(channel.max.value))
        else { return false }
        return (0...steps).allSatisfy { step in
            let code = Double(step) / Double(steps)
            return abs(apple.gain(ofCode: code) - channel.gain(ofCode: code)) <= likeStopsMax
        }
    }

    /// The allowed difference, in stops, of the greatest gain and the headroom, because writers round them.
    private static let stopsRounded = 0.01
    /// The allowed difference, in stops, between gains and Apple's formula.
    private static let likeStopsMax = 0.1
    private static let steps = 32

    /// Returns the XMP packet of the auxiliary picture: Adobe's properties, and also Apple's if the name is Apple's.
    public static func packet(of metadata: GainMapMetadata) -> [UInt8] {
        guard isLikeApple(metadata) else { return metadata.hdrgm }
        // Version 2.0 as four bytes.
        return XMP.adding(
            """
            <rdf:Description rdf:about="" xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/" \
            HDRGainMap:HDRGainMapVersion="131072" \
            HDRGainMap:HDRGainMapHeadroom="\(exp2(metadata.channel(0).max.value))"/>
            """, to: metadata.hdrgm)
    }

    /// The colour space of the photo in HDR, to which readers convert it: BT.2100 with PQ, which contains all others.
    public static let alternateColour = HEIFProperty.CodedColour(
        primaries: 9, transfer: 16, matrix: 9, isFullRange: true)
}

extension GainMapMetadata {
    /// The data of an item `tmap`, which begin with a version of their own (ISO/IEC 23008-12:2025 §6.6.2.4).
    public var tmap: [UInt8] { [0] + iso }
}

/// A number as stored by ISO 21496-1 and EXIF: a fraction of two integers.
public struct Fraction: Sendable, Codable, Equatable {
    public let numerator: Int32
    /// The denominator, never 0.
    public let denominator: UInt32

    /// Makes a fraction; nil when the denominator is 0.
    public init?(_ numerator: Int32, over denominator: UInt32) {
        guard denominator != 0 else { return nil }
        self.numerator = numerator
        self.denominator = denominator
    }

    public init(_ whole: Int32) {
        numerator = whole
        denominator = 1
    }

    /// Largest denominator for a decimal number: more digits than a Float holds.
    private static let denominatorMax: UInt32 = 1_000_000_000

    /// Creates the nearest fraction over a power of ten, reduced; nil for a number that is not finite or exceeds 32 bits.
    public init?(nearest value: Double) {
        guard value.isFinite, abs(value) <= Double(Int32.max) else { return nil }
        var denominator = Self.denominatorMax
        while abs(value) * Double(denominator) > Double(Int32.max) { denominator /= 10 }
        let numerator = Int32((value * Double(denominator)).rounded())
        let common = Self.commonDivisor(UInt32(numerator.magnitude), denominator)
        self.numerator = numerator / Int32(common)
        self.denominator = denominator / common
    }

    /// Parses a decimal number of XMP, such as `1.75`.
    public init?(text: String) {
        guard text.utf8.count <= Self.textBytesMax, let value = Double(text) else { return nil }
        self.init(nearest: value)
    }

    /// Most characters of a number in XMP.
    private static let textBytesMax = 40

    private static func commonDivisor(_ first: UInt32, _ second: UInt32) -> UInt32 {
        var (a, b) = (first, second)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }

    public var value: Double { Double(numerator) / Double(denominator) }
}
