import Edits
import Glibc

/// CIExposureAdjust: x · 2^EV on linear light, like a longer or shorter exposure.
enum CIExposureAdjust {
    static let definition = FilterDefinition(
        name: "CIExposureAdjust",
        summary: "Exposes the photo more or less.",
        category: .tone,
        parameters: [
            // Core Image documents no limits; these are the slider's.
            .number(
                "inputEV", "Doublings of the light; negative ones halve it.", default: 0,
                -10...10, .stops, identity: 0)
        ],
        fidelity: .measured(rms: 1.24),
        source: "x · 2^EV on linear light. Documented by Apple.",
        gain: .depends { $0.number("inputEV") > 0 ? .recomputed : .carried },
        light: .unlimited,
        kernel: .pixel { filter, _ in
            MatrixPixels(transform: ColourTransform(scale: exp2(filter.number("inputEV"))))
        })
}

/// CIGammaAdjust: x^power on linear light; negative light keeps its sign.
struct CIGammaAdjust: FusiblePixels {
    static let definition = FilterDefinition(
        name: "CIGammaAdjust",
        summary: "Brightens or darkens the middle tones.",
        category: .tone,
        parameters: [
            // Core Image documents no limits; the slider goes from 0.25 to 4. Beyond 10, the error of the power's table would
            // exceed a 16-bit code.
            .number(
                "inputPower", "Below 1 brightens, above 1 darkens.", default: 1, 0.1...10,
                identity: 1)
        ],
        fidelity: .measured(rms: 1.03),
        source: """
            x^power on linear light, black and white stay. Documented by Apple. The default was 0.75 in older systems.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { filter, _ in CIGammaAdjust(filter) })

    private let exponent: Double
    private let power: LightCurve

    var form: PixelForm? {
        .curve { [exponent] light in
            let power = pow(abs(light), exponent)
            return light < 0 ? -power : power
        }
    }

    init(_ filter: Filter) {
        let exponent = filter.number("inputPower")
        self.exponent = exponent
        power = LightCurve { pow($0, exponent) }
    }

    func apply(to pixels: PixelChunk) {
        for plane in pixels.colours { power.applySigned(to: plane, count: pixels.count) }
    }
}

/// CIWhitePointAdjust: multiplies the light by a colour, which becomes the new white.
enum CIWhitePointAdjust {
    static let definition = FilterDefinition(
        name: "CIWhitePointAdjust",
        summary: "Makes white become a colour, and all colours follow.",
        category: .tone,
        parameters: [
            .color(
                "inputColor", "What white becomes.", default: [1, 1, 1, 1], identity: [1, 1, 1, 1])
        ],
        fidelity: .measured(rms: 0.35),
        source: "Linear light times the colour's linear light; the colour's alpha does not count.",
        gain: .carried,
        light: .unlimited,
        kernel: .pixel { filter, _ in
            let white = filter.light("inputColor")
            let (red, green, blue) = (Double(white.red), Double(white.green), Double(white.blue))
            return MatrixPixels(
                transform: ColourTransform(matrix: [red, 0, 0, 0, green, 0, 0, 0, blue]))
        })
}

/// CITemperatureAndTint: colours that are neutral under one light become neutral under another.
enum CITemperatureAndTint {
    /// Beside the locus by 1/20 of the CIE 1960 diagram: the scale of raw converters.
    private static let tints = -150.0...150.0

    private static func white(_ name: String, _ summary: String) -> ParameterDefinition {
        .vector(
            name, summary, default: [6500, 0], tints.lowerBound...WhitePoint.kelvins.upperBound,
            [.kelvin, .factor])
    }

    static let definition = FilterDefinition(
        name: "CITemperatureAndTint",
        summary: "Changes the white balance.",
        category: .tone,
        parameters: [
            white(
                "inputNeutral",
                "The light of the photo: temperature (1000 to 25000) and tint (-150 to 150, green)."
            ),
            white(
                "inputTargetNeutral",
                "The light to show it in; a lower temperature is warmer."),
        ],
        fidelity: .measured(rms: 2.07),
        source: """
            Bradford adaptation between whites of the daylight locus (the Planckian one below 3000 K), not renormalised. \
            Measured for 6500 → 4000; von Kries is off by 5.6. How Core Image scales tint is unknown: ours is Adobe's.
            """,
        gain: .carried,
        light: .unlimited,
        kernel: .pixel { filter, _ throws(Failure) in
            MatrixPixels(transform: try transform(of: filter))
        })

    private static func transform(of filter: Filter) throws(Failure) -> ColourTransform {
        let (neutral, target) = (
            filter.vector("inputNeutral"), filter.vector("inputTargetNeutral")
        )
        for (name, white) in [("inputNeutral", neutral), ("inputTargetNeutral", target)] {
            guard WhitePoint.kelvins.contains(white[0]), tints.contains(white[1]) else {
                throw Failure(
                    .parameterOutOfRange,
                    "CITemperatureAndTint's \(name) is \(white[0]) K with tint \(white[1]); it takes "
                        + "\(WhitePoint.kelvins.lowerBound) to \(WhitePoint.kelvins.upperBound) K and "
                        + "\(tints.lowerBound) to \(tints.upperBound).")
            }
        }
        guard neutral != target else { return ColourTransform(scale: 1) }
        guard
            let adaptation = WhitePoint.adaptation(
                from: WhitePoint.xyz(kelvin: neutral[0], tint: neutral[1]),
                to: WhitePoint.xyz(kelvin: target[0], tint: target[1]))
        else {
            throw Failure(
                .parameterOutOfRange,
                "CITemperatureAndTint cannot adapt from \(neutral) to \(target): one of them is no light "
                    + "that eyes see as white. Use a smaller tint.")
        }
        return ColourTransform(matrix: adaptation.rows)
    }
}

/// CIVibrance: changes saturation, but protects skin tones and, when it adds saturation, already saturated colours.
///
///     A = (R + G + B) / 3     out = A + (x − A) · k
///
/// k was determined from Core Image's pixels for amount −1: 0.32 − 0.14 D for most hues, 0.84 for skin tones, whose range of hues
/// is wider for pale colours than for strong ones. D is the difference of the largest and the smallest encoded channel. For amounts
/// above 0 no pixels were available; there, k is 1 + amount · (1 − D)(1 − 0.7 skin).
struct CIVibrance: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIVibrance",
        summary: "Saturates pale colours and spares skin, or takes colour away.",
        category: .tone,
        parameters: [
            .number(
                "inputAmount", "Above 0 adds colour, below 0 takes it away.", default: 0, -1...1,
                identity: 0)
        ],
        fidelity: .lookAlike,
        source: """
            That each channel moves away from the mean of all three was measured; by how much is a fit to Core Image's \
            pixels for amount -1 (RMS 7 of 255; leaving the photo as it is is off by 67), and ours above 0.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { filter, _ in CIVibrance(filter) })

    private let amount: Float

    init(_ filter: Filter) { amount = Float(filter.number("inputAmount")) }

    func apply(to pixels: PixelChunk) {
        guard amount != 0 else { return }
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * PixelChunk.capacity) {
            buffer in
            guard let encoded = buffer.baseAddress else { return }
            for (index, plane) in pixels.colours.enumerated() {
                let copy = encoded + index * PixelChunk.capacity
                copy.update(from: plane, count: pixels.count)
                LightCurve.encoding.applySigned(to: copy, count: pixels.count)
            }
            if amount < 0 { reduce(from: pixels, encoded) } else { add(to: pixels, encoded) }
        }
    }

    private func add(to pixels: PixelChunk, _ encoded: UnsafePointer<Float>) {
        let amount = amount
        Self.spread(pixels, encoded) { depth, skin in
            1 + amount * (1 - depth) * (1 - 0.7 * skin)
        }
    }

    private func reduce(from pixels: PixelChunk, _ encoded: UnsafePointer<Float>) {
        let amount = amount
        Self.spread(pixels, encoded) { depth, skin in
            let base = 0.32 - 0.14 * depth
            return 1 + amount * (1 - (base + (0.84 - base) * skin))
        }
    }

    /// Multiplies each colour's distance from grey by a factor.
    ///
    /// Without branches: all hues are computed and one is selected, so that the compiler vectorizes the loop. A photo's colours are
    /// unpredictable for a branch predictor: with branches it took three times as long.
    ///
    /// - Parameter encoded: planes of the colours' encoded values, ``PixelChunk/capacity`` apart.
    @inline(__always)
    private static func spread(
        _ pixels: PixelChunk, _ encoded: UnsafePointer<Float>,
        by factor: (_ depth: Float, _ skin: Float) -> Float
    ) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        let (reds, greens, blues) = (
            encoded, encoded + PixelChunk.capacity, encoded + 2 * PixelChunk.capacity
        )
        for i in 0..<pixels.count {
            let (r, g, b) = (reds[i], greens[i], blues[i])
            let most = larger(larger(r, g), b)
            let difference = most - smaller(smaller(r, g), b)
            let depth = smaller(difference, 1)
            let skin = skin(hue(r, g, b, most, difference), depth)
            let k = factor(depth, skin)
            let mean = (red[i] + green[i] + blue[i]) / 3
            red[i] = mean + (red[i] - mean) * k
            green[i] = mean + (green[i] - mean) * k
            blue[i] = mean + (blue[i] - mean) * k
        }
    }

    /// Returns degrees from red via yellow, −90 to 270; 0 for greys.
    @inline(__always)
    private static func hue(
        _ red: Float, _ green: Float, _ blue: Float, _ most: Float, _ difference: Float
    ) -> Float {
        let scale = 60 / (difference > 0 ? difference : 1)
        let fromBlue = (red - green) * scale + 240
        let nearBlue = fromBlue > 270 ? fromBlue - 360 : fromBlue
        let nearGreen = (blue - red) * scale + 120
        let other = green >= blue ? nearGreen : nearBlue
        return red == most ? (green - blue) * scale : other
    }

    /// Returns 1 for hues of skin, 0 for others.
    @inline(__always)
    private static func skin(_ hue: Float, _ depth: Float) -> Float {
        let pale = 1 - depth
        let rise = smooth((hue - (24 - 35 * pale)) * (1 / 11))
        let fall = smooth((hue - (35 + 24 * pale)) * (1 / 14))
        return rise * (1 - fall)
    }

    @inline(__always)
    private static func smooth(_ position: Float) -> Float {
        let t = smaller(larger(position, 0), 1)
        return t * t * (3 - 2 * t)
    }

    // Like min and max, which are calls that prevent vectorization.
    @inline(__always) private static func smaller(_ a: Float, _ b: Float) -> Float { a < b ? a : b }
    @inline(__always) private static func larger(_ a: Float, _ b: Float) -> Float { a > b ? a : b }
}
