import Edits

/// CIColorInvert: 1 − x on linear light.
enum CIColorInvert {
    static let definition = FilterDefinition(
        name: "CIColorInvert",
        summary: "Inverts the colours in linear light.",
        category: .tone,
        fidelity: .measured(rms: 1.00),
        source: """
            1 − x on linear light, which is why the result looks washed out: middle grey 128 becomes 229. \
            Inverting the encoded values instead is off by 63; that is css:invert.
            """,
        gain: .dropped,
        kernel: .pixel { _, _ in MatrixPixels(transform: ColourTransform(scale: -1, offset: 1)) })
}

/// CIColorPosterize: rounds each linear channel to a number of levels.
///
///     out = ⌊x · (n − 1) + ½⌋ / (n − 1)
struct CIColorPosterize: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIColorPosterize",
        summary: "Leaves each channel a few levels of light.",
        category: .tone,
        parameters: [
            // Core Image's minimum is 1, for which its formula divides by zero; its slider is 2 to 30.
            .number("inputLevels", "Levels of a channel.", default: 6, 2...256, .count)
        ],
        fidelity: .exact,
        source:
            "⌊x · (n − 1) + ½⌋ / (n − 1) on linear light: not one pixel differs from Core Image's.",
        gain: .dropped,
        kernel: .pixel { filter, _ in CIColorPosterize(filter) })

    private let steps: Float

    init(_ filter: Filter) { steps = Float(filter.number("inputLevels") - 1) }

    func apply(to pixels: PixelChunk) {
        for plane in pixels.colours {
            for i in 0..<pixels.count {
                plane[i] = (plane[i] * steps + 0.5).rounded(.down) / steps
            }
        }
    }
}

/// CIFalseColor: from one colour to another by luminance.
struct CIFalseColor: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIFalseColor",
        summary: "Maps the photo's luminance to the colours between two.",
        category: .tone,
        parameters: [
            .color("inputColor0", "What black becomes.", default: [0.3, 0, 0, 1]),
            .color("inputColor1", "What white becomes.", default: [1, 0.9, 0.8, 1]),
        ],
        fidelity: .measured(rms: 0.76),
        source: "color0 + (color1 − color0) · Y in linear light; the photo's alpha stays.",
        gain: .dropped,
        kernel: .pixel { filter, _ in CIFalseColor(filter) })

    private let dark, bright: Light

    init(_ filter: Filter) {
        dark = filter.light("inputColor0")
        bright = filter.light("inputColor1")
    }

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        for i in 0..<pixels.count {
            let y = Luminance.of(red[i], green[i], blue[i])
            red[i] = dark.red + (bright.red - dark.red) * y
            green[i] = dark.green + (bright.green - dark.green) * y
            blue[i] = dark.blue + (bright.blue - dark.blue) * y
        }
    }
}

/// CIColorThreshold: each linear channel becomes 0 or 1.
struct CIColorThreshold: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIColorThreshold",
        summary: "Makes each channel none or full.",
        category: .tone,
        parameters: [
            .number(
                "inputThreshold", "From this much linear light on a channel is full.",
                default: 0.5, 0...1)
        ],
        fidelity: .exact,
        source:
            "x ≥ threshold per linear channel: with ½ the step is between codes 187 and 188, as Core Image's.",
        gain: .dropped,
        kernel: .pixel { filter, _ in CIColorThreshold(filter) })

    private let threshold: Float

    init(_ filter: Filter) { threshold = Float(filter.number("inputThreshold")) }

    func apply(to pixels: PixelChunk) {
        for plane in pixels.colours {
            for i in 0..<pixels.count { plane[i] = plane[i] >= threshold ? 1 : 0 }
        }
    }
}

/// CIColorMonochrome: overlays a colour on the photo's luminance.
///
///     M = Y < ½ ? 2 Y c : 1 − 2 (1 − Y)(1 − c)     out = x + (M − x) · intensity
struct CIColorMonochrome: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIColorMonochrome",
        summary: "Maps the photo to shades of one colour.",
        category: .tone,
        parameters: [
            .color("inputColor", "The colour of middle grey.", default: [0.6, 0.45, 0.3, 1]),
            // Core Image documents no maximum; 10 is ours, far beyond the slider's 1.
            .number(
                "inputIntensity", "0 leaves the photo as it is, 1 is one colour only.", default: 1,
                0...10, identity: 0),
        ],
        fidelity: .measured(rms: 1.07),
        source: """
            The colour overlaid by luminance, in linear light; black and white stay. GPUImageMonochrome is the same on \
            encoded values.
            """,
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { filter, _ in CIColorMonochrome(filter) })

    private let color: Light
    private let intensity: Float

    init(_ filter: Filter) {
        color = filter.light("inputColor")
        intensity = Float(filter.number("inputIntensity"))
    }

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        let (amount, rest) = (intensity, 1 - intensity)
        for i in 0..<pixels.count {
            let y = Luminance.of(red[i], green[i], blue[i])
            // Both halves of the overlay are base + slope · c.
            let slope = y < 0.5 ? 2 * y : 2 * (1 - y)
            let base = y < 0.5 ? 0 : 2 * y - 1
            red[i] = rest * red[i] + amount * (base + slope * color.red)
            green[i] = rest * green[i] + amount * (base + slope * color.green)
            blue[i] = rest * blue[i] + amount * (base + slope * color.blue)
        }
    }
}

/// CIColorClamp: keeps each component, linear and not multiplied by alpha, within its limits.
struct CIColorClamp: PixelFilter {
    // A component is red, green, blue or alpha; ±100 is far beyond what a photo holds.
    private static let range = -100.0...100.0

    static let definition = FilterDefinition(
        name: "CIColorClamp",
        summary: "Cuts off what lies outside of limits.",
        category: .tone,
        parameters: [
            .vector(
                "inputMinComponents", "The least red, green, blue and alpha.",
                default: [0, 0, 0, 0], range, [.factor, .factor, .factor, .factor]),
            .vector(
                "inputMaxComponents", "The most red, green, blue and alpha.",
                default: [1, 1, 1, 1], range, [.factor, .factor, .factor, .factor]),
        ],
        fidelity: .exact,
        source: "A clamp on linear light, not multiplied by alpha; equal to Core Image's pixels.",
        gain: .recomputed,
        light: .unlimited(when: { $0.vector("inputMaxComponents")[..<3].allSatisfy { $0 > 1 } }),
        kernel: .pixel { filter, _ throws(Failure) in try CIColorClamp(filter) })

    private let least, most: [Float]

    /// A photo without alpha has alpha 1 everywhere.
    var changesAlpha: Bool { most[3] < 1 }

    init(_ filter: Filter) throws(Failure) {
        least = filter.floats("inputMinComponents")
        most = filter.floats("inputMaxComponents")
        for (index, (low, high)) in zip(least, most).enumerated() where low > high {
            throw Failure(
                .invalidValue,
                "CIColorClamp's inputMinComponents[\(index)] is \(low), more than "
                    + "inputMaxComponents[\(index)], which is \(high); expected min ≤ max.")
        }
    }

    func apply(to pixels: PixelChunk) {
        for (index, plane) in (pixels.colours + [pixels.alpha]).enumerated() {
            let (low, high) = (least[index], most[index])
            for i in 0..<pixels.count { plane[i] = min(max(plane[i], low), high) }
        }
        pixels.limitAlpha()
    }
}

/// Grey of the smallest or the largest of red, green and blue.
struct ExtremeComponent: PixelFilter {
    let isLargest: Bool

    static func definition(_ name: String, isLargest: Bool) -> FilterDefinition {
        let extreme = isLargest ? "largest" : "smallest"
        return FilterDefinition(
            name: name, summary: "Makes a grey photo of each pixel's \(extreme) channel.",
            category: .tone, fidelity: .exact,
            source:
                "The \(extreme) of red, green and blue: not one pixel differs from Core Image's.",
            gain: .carried, light: .unlimited,
            kernel: .pixel { _, _ in ExtremeComponent(isLargest: isLargest) })
    }

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        if isLargest {
            for i in 0..<pixels.count { red[i] = max(red[i], green[i], blue[i]) }
        } else {
            for i in 0..<pixels.count { red[i] = min(red[i], green[i], blue[i]) }
        }
        pixels.makeGrey()
    }
}

enum CIMinimumComponent {
    static let definition = ExtremeComponent.definition("CIMinimumComponent", isLargest: false)
}

enum CIMaximumComponent {
    static let definition = ExtremeComponent.definition("CIMaximumComponent", isLargest: true)
}

/// CIHueAdjust: rotates the hues, on linear light.
enum CIHueAdjust {
    static let definition = FilterDefinition(
        name: "CIHueAdjust",
        summary: "Turns all hues round the colour circle.",
        category: .tone,
        parameters: [
            .number(
                "inputAngle", "How far.", default: 0, -2 * .pi...2 * .pi, .radians, identity: 0)
        ],
        fidelity: .measured(rms: 1.10),
        source: """
            The W3C's matrix of hueRotate on linear light. A turn in YIQ or about the axis of equal numbers is off by \
            20 to 35.
            """,
        gain: .carried,
        light: .unlimited,
        kernel: .pixel { filter, _ in
            MatrixPixels(transform: HueRotation.matrix(angle: filter.number("inputAngle")))
        })
}

/// CIColorControls: saturation, then contrast, then brightness, on linear light.
///
///     y = Y + (x − Y) · saturation     out = (y − ½) · contrast + ½ + brightness
enum CIColorControls {
    static let definition = FilterDefinition(
        name: "CIColorControls",
        summary: "Changes saturation, contrast and brightness.",
        category: .tone,
        parameters: [
            // Core Image documents only a maximum for brightness, 1; 10 is ours.
            .number(
                "inputSaturation", "0 is grey, 1 leaves the colours.", default: 1, 0...10,
                identity: 1),
            .number(
                "inputBrightness", "Added to the linear light, last.", default: 0, -1...1,
                identity: 0),
            .number(
                "inputContrast", "Spreads the light from its middle, ½.", default: 1, 0...10,
                identity: 1),
        ],
        fidelity: .measured(rms: 1.08),
        source: """
            Saturation, contrast, brightness, in this order, on linear light: brightness before contrast is off by 157.
            """,
        gain: .depends { filter in
            let isSaturation =
                filter.number("inputContrast") == 1 && filter.number("inputBrightness") == 0
            return isSaturation ? .carried : .kept
        },
        light: .unlimited,
        kernel: .pixel { filter, _ in MatrixPixels(transform: transform(of: filter)) })

    private static func transform(of filter: Filter) -> ColourTransform {
        let (saturation, contrast) = (
            filter.number("inputSaturation"), filter.number("inputContrast")
        )
        let shares = Luminance.weights.map { $0 * (1 - saturation) * contrast }
        return ColourTransform(
            matrix: (0..<9).map { index in
                shares[index % 3] + (index % 4 == 0 ? saturation * contrast : 0)
            }, offset: 0.5 - 0.5 * contrast + filter.number("inputBrightness"))
    }
}
