import Edits

/// CIToneCurve: a curve through five points, applied to each sRGB-encoded channel.
struct CIToneCurve: FusiblePixels {
    private static let count = 5

    static let definition = FilterDefinition(
        name: "CIToneCurve",
        summary: "Puts the tones through a curve of five points.",
        category: .tone,
        parameters: (0..<count).map { number in
            let position = Double(number) / Double(count - 1)
            // Core Image documents no limits; points outside of 0 to 1 only shape the curve.
            return .vector(
                "inputPoint\(number)", "An encoded value from 0 to 1, and what becomes of it.",
                default: [position, position], -10...10, [.factor, .factor],
                identity: [position, position])
        },
        fidelity: .measured(rms: 1.54),
        source: """
            A natural cubic spline on encoded values. Other splines are off by 9 to 18, the same on linear light by 69. \
            Beyond its first and last point it goes on straight.
            """,
        gain: .kept,
        light: .unlimited(when: { isRising(beyondWhite: $0) }),
        kernel: .pixel { filter, _ throws(Failure) in try CIToneCurve(filter) })

    /// The tabulated domain; beyond it the curve is a straight line. With pieces of 1/8192, linear interpolation has an error below
    /// a 16-bit code for curves of realistic steepness.
    private static let domain = (low: -1.0, high: 3.0)
    private static let samples = 4 * 8192 + 1

    private let spline: NaturalSpline
    private let curve: SampledCurve

    var form: PixelForm? {
        .curve { [spline] light in
            LightCurve.signedDecoding(spline.value(at: LightCurve.signedEncoding(light)))
        }
    }

    /// Encoded values above white that are checked: HLG reaches 1.8, PQ 5.3, and beyond the last point the curve is a straight
    /// line.
    private static let aboveWhite = (0...80).map { 1 + Double($0) / 8 }

    /// Whether the curve rises beyond white. Invalid points pass, because they are rejected elsewhere.
    private static func isRising(beyondWhite filter: Filter) -> Bool {
        let points = (0..<count).map { filter.vector("inputPoint\($0)") }
        guard zip(points, points.dropFirst()).allSatisfy({ $0[0] < $1[0] }) else { return true }
        let spline = NaturalSpline(x: points.map { $0[0] }, y: points.map { $0[1] })
        let values = aboveWhite.map(spline.value)
        return zip(values, values.dropFirst()).allSatisfy { $0 < $1 }
    }

    init(_ filter: Filter) throws(Failure) {
        let points = (0..<Self.count).map { filter.vector("inputPoint\($0)") }
        for number in 1..<Self.count where points[number][0] <= points[number - 1][0] {
            throw Failure(
                .invalidValue,
                "CIToneCurve's inputPoint\(number) lies at \(points[number][0]), which is not right of "
                    + "inputPoint\(number - 1) at \(points[number - 1][0]); expected points from left "
                    + "to right.")
        }
        let spline = NaturalSpline(x: points.map { $0[0] }, y: points.map { $0[1] })
        self.spline = spline
        curve = SampledCurve(from: Self.domain.low, to: Self.domain.high, count: Self.samples) {
            spline.value(at: $0)
        }
    }

    func apply(to pixels: PixelChunk) {
        pixels.encode()
        for plane in pixels.colours { curve.apply(to: plane, count: pixels.count) }
        pixels.decode()
    }
}

/// CILinearToSRGBToneCurve: the sRGB encoding, applied on top of the linear working values.
struct CILinearToSRGBToneCurve: FusiblePixels {
    static let definition = FilterDefinition(
        name: "CILinearToSRGBToneCurve",
        summary: "Takes linear light for values that are still to be encoded, which brightens.",
        category: .tone,
        fidelity: .measured(rms: 0.04),
        source: "IEC 61966-2-1, applied to linear light; an odd function.",
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { _, _ in CILinearToSRGBToneCurve() })

    var form: PixelForm? { .curve(LightCurve.signedEncoding) }

    func apply(to pixels: PixelChunk) { pixels.encode() }
}

/// CISRGBToneCurveToLinear: the sRGB decoding, applied on top of the linear working values.
struct CISRGBToneCurveToLinear: FusiblePixels {
    static let definition = FilterDefinition(
        name: "CISRGBToneCurveToLinear",
        summary: "Takes linear light for values that are still encoded, which darkens.",
        category: .tone,
        fidelity: .measured(rms: 0.04),
        source: "IEC 61966-2-1 turned round, applied to linear light; an odd function.",
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { _, _ in CISRGBToneCurveToLinear() })

    var form: PixelForm? { .curve(LightCurve.signedDecoding) }

    func apply(to pixels: PixelChunk) { pixels.decode() }
}
