package import Filters

/// Tables between encoded samples and linear light, for the pixel loops.
package struct ColourTables: Sendable {
    /// Linear light by 8-bit code, for red, green, blue.
    package let linear8: [Table<Float>]
    /// 8-bit code by linear light, over ``scale``.
    package let encoded8: [Table<UInt8>]

    /// The scale of ``encoded8``. Steps of 1/1024 of an octave move an 8-bit code by 0.05 at the most. Below 2⁻²⁰ all curves of
    /// photos round to code 0.
    package static let scale = LogScale(stepBits: 10, octavesBelowOne: 20, octavesAboveOne: 0)

    /// sRGB's tables, built once per process: most photos need no others.
    package static let sRGB = ColourTables(building: .sRGB)

    package init(_ colour: PhotoColour) {
        self = colour.curves == PhotoColour.sRGB.curves ? Self.sRGB : Self(building: colour)
    }

    private init(building colour: PhotoColour) {
        var linear: [Table<Float>] = []
        var encoded: [Table<UInt8>] = []
        for (channel, curve) in colour.curves.enumerated() {
            if channel > 0, curve == colour.curves[0] {
                linear.append(linear[0])
                encoded.append(encoded[0])
                continue
            }
            linear.append(Table(count: 256) { Float(curve.linear(Double($0) / 255)) })
            encoded.append(Table(Self.scale) { UInt8(curve.encoded($0) * 255 + 0.5) })
        }
        linear8 = linear
        encoded8 = encoded
    }

    /// Returns a table for each curve; equal curves share one.
    private static func tables(
        _ colour: PhotoColour, _ table: (ToneCurve) -> Table<Float>
    ) -> [Table<Float>] {
        colour.curves.reduce(into: []) { tables, curve in
            tables.append(
                tables.first.flatMap { curve == colour.curves[0] ? $0 : nil } ?? table(curve))
        }
    }

    /// Returns linear light by 16-bit code; 256 KB per curve, built when a 16-bit photo arrives.
    package static func linear16(_ colour: PhotoColour) -> [Table<Float>] {
        tables(colour) { curve in
            Table(count: 65_536) { Float(curve.linear(Double($0) / 65_535)) }
        }
    }

    /// The scale of ``encoded16(_:)``. 16-bit codes are interpolated linearly between 128 points per octave: x^(1/2.4) deviates by
    /// 0.12 codes at the most. Below 2⁻⁴⁴ all curves of photos are below one code.
    package static let scale16 = LogScale(stepBits: 7, octavesBelowOne: 44, octavesAboveOne: 0)

    /// Returns unrounded 16-bit codes by linear light at the points of ``scale16``; 22 KB per curve.
    package static func encoded16(_ colour: PhotoColour) -> [Table<Float>] {
        tables(colour) { curve in
            Table(count: scale16.count + 1) {
                Float(curve.encoded(scale16.lowerEnd(of: $0)) * 65_535)
            }
        }
    }
}

/// The meaning of a photo's codes: the conversion to linear light with sRGB primaries, and back.
package struct PhotoColour: Sendable, Equatable {
    package let curves: [ToneCurve]
    /// The matrix from linear light of the photo's primaries to linear sRGB, or nil when they are the same.
    package let toWorking: ColourMatrix?
    /// The inverse of ``toWorking``.
    package let fromWorking: ColourMatrix?

    /// sRGB, which is assumed for photos without a profile.
    package static let sRGB = PhotoColour(
        curves: [.sRGB, .sRGB, .sRGB], toWorking: nil, fromWorking: nil)

    private init(curves: [ToneCurve], toWorking: ColourMatrix?, fromWorking: ColourMatrix?) {
        self.curves = curves
        self.toWorking = toWorking
        self.fromWorking = fromWorking
    }

    /// Creates a colour with sRGB's primaries and other curves.
    package init(curves: [ToneCurve]) {
        self.init(curves: curves, toWorking: nil, fromWorking: nil)
    }

    /// Reads the meaning of a matrix profile.
    package init?(_ profile: ICCMatrixProfile) {
        guard let fromXYZ = ColourMatrix.sRGBToXYZ.inverse else { return nil }
        let toWorking = fromXYZ * profile.toXYZ
        guard let fromWorking = toWorking.inverse else { return nil }
        let isSame = toWorking.isNearlyIdentity
        self.init(
            curves: profile.curves, toWorking: isSame ? nil : toWorking,
            fromWorking: isSame ? nil : fromWorking)
    }

    /// Whether 8 bits of these codes would show steps in shadows: the first code is brighter than the fourth of sRGB. A linear
    /// profile is of this kind.
    package var isCoarse: Bool {
        curves.contains { $0.linear(1.0 / 255) > ToneCurve.sRGB.linear(4.0 / 255) }
    }

    /// The same primaries with the curve of sRGB.
    package var withCurveOfSRGB: PhotoColour {
        PhotoColour(
            curves: [.sRGB, .sRGB, .sRGB], toWorking: toWorking, fromWorking: fromWorking)
    }

    /// Linear light of the photo's primaries to XYZ of illuminant D50.
    package var toXYZ: ColourMatrix {
        toWorking.map { ColourMatrix.sRGBToXYZ * $0 } ?? .sRGBToXYZ
    }
}

/// Red, green, blue and white of a colour space as CIE 1931 chromaticities.
package struct Primaries: Sendable, Equatable {
    /// A chromaticity.
    package struct Point: Sendable, Equatable {
        package let x, y: Double

        package init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }

        /// XYZ with a luminance of 1.
        fileprivate var xyz: [Double] { [x / y, 1, (1 - x - y) / y] }
    }

    package let red, green, blue, white: Point

    /// Makes primaries.
    package init(red: Point, green: Point, blue: Point, white: Point) {
        (self.red, self.green, self.blue, self.white) = (red, green, blue, white)
    }

    private static let d65 = Point(0.3127, 0.3290)
    private static let c = Point(0.310, 0.316)

    /// sRGB's, which are BT.709's.
    package static let sRGB = Primaries(
        red: Point(0.640, 0.330), green: Point(0.300, 0.600), blue: Point(0.150, 0.060), white: d65)

    /// The primaries of a number of ITU-T H.273 table 2; nil for numbers that are reserved, unspecified, or no RGB.
    package init?(h273 number: Int) {
        func primaries(_ numbers: [Double], _ white: Point = Self.d65) -> Primaries {
            Primaries(
                red: Point(numbers[0], numbers[1]), green: Point(numbers[2], numbers[3]),
                blue: Point(numbers[4], numbers[5]), white: white)
        }
        switch number {
        case 1: self = .sRGB
        case 4: self = primaries([0.670, 0.330, 0.210, 0.710, 0.140, 0.080], Self.c)
        case 5: self = primaries([0.640, 0.330, 0.290, 0.600, 0.150, 0.060])
        case 6, 7: self = primaries([0.630, 0.340, 0.310, 0.595, 0.155, 0.070])
        case 8: self = primaries([0.681, 0.319, 0.243, 0.692, 0.145, 0.049], Self.c)
        case 9: self = primaries([0.708, 0.292, 0.170, 0.797, 0.131, 0.046])
        case 11:
            self = primaries([0.680, 0.320, 0.265, 0.690, 0.150, 0.060], Point(0.314, 0.351))
        case 12: self = primaries([0.680, 0.320, 0.265, 0.690, 0.150, 0.060])
        case 22: self = primaries([0.630, 0.340, 0.295, 0.605, 0.155, 0.077])
        default: return nil
        }
    }

    /// Linear RGB to XYZ of illuminant D50: equal amounts of the primaries are white (SMPTE RP 177), and white is adapted by
    /// Bradford (ICC.1:2010 §E). Nil if the chromaticities enclose no colours.
    package var toXYZ: ColourMatrix? {
        let points = [red, green, blue, white]
        guard points.allSatisfy({ (0...1).contains($0.x) && $0.y > 0.001 && $0.y <= 1 }) else {
            return nil
        }
        let columns = [red, green, blue].map(\.xyz)
        let primaries = ColourMatrix(rows: (0..<9).map { columns[$0 % 3][$0 / 3] })
        guard let inverse = primaries.inverse else { return nil }
        let amounts = inverse.times(white.xyz)
        guard amounts.allSatisfy({ $0 > 0 }) else { return nil }
        let own = ColourMatrix(rows: (0..<9).map { primaries.rows[$0] * amounts[$0 % 3] })
        let (from, to) = (Self.bradford.times(white.xyz), Self.bradford.times(Self.d50))
        guard let back = Self.bradford.inverse, from.allSatisfy({ $0 > 0.001 }) else { return nil }
        let scale = ColourMatrix(
            rows: [to[0] / from[0], 0, 0, 0, to[1] / from[1], 0, 0, 0, to[2] / from[2]])
        return back * scale * Self.bradford * own
    }

    /// XYZ of illuminant D50 (ICC.1:2010 §7.2.16).
    static let d50 = [0.9642, 1, 0.8249]
    private static let bradford = ColourMatrix(rows: [
        0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296,
    ])
}

extension ColourMatrix {
    fileprivate func times(_ numbers: [Double]) -> [Double] {
        (0..<3).map { row in (0..<3).reduce(0) { $0 + rows[3 * row + $1] * numbers[$1] } }
    }
}

extension ToneCurve {
    /// The curve of a number of ITU-T H.273 table 3 for codes that a screen shows; nil for HDR, and for numbers that are reserved
    /// or unspecified.
    ///
    /// The camera curve of BT.709 and its equals is shown by BT.1886, a power of 2.4, which Chromium uses for a PNG.
    package static func coded(h273 number: Int) -> ToneCurve? {
        switch number {
        case 1, 6, 14, 15: .gamma(2.4)
        case 4: .gamma(2.2)
        case 5: .gamma(2.8)
        case 7:
            // SMPTE ST 240.
            .parametric(
                g: 1 / 0.45, a: 1 / 1.1115, b: 0.1115 / 1.1115, c: 0.25, d: 0.0913, e: 0, f: 0)
        case 8: .gamma(1)
        case 13: .sRGB
        default: nil
        }
    }
}
