import Edits

/// A picture composited over the photo with a blend mode.
///
///     αo = 1 − (1 − αs)(1 − αb)      co·αo = αs(1 − αb)·cs + αs·αb·B(cb, cs) + (1 − αs)·αb·cb
///
/// Source: W3C, Compositing and Blending Level 1, §10; evaluated on linear light, as Core Image does.
struct Overlay: PixelFilter {
    /// B: replaces each of `above` by its blend with `below`.
    typealias Blend =
        @Sendable (
            _ below: UnsafePointer<Float>, _ above: UnsafeMutablePointer<Float>, _ count: Int
        ) -> Void

    private let picture: ResourcePicture
    private let left, bottom: Int
    private let opacity: Float
    private let blend: Blend
    var usesPosition: Bool { true }

    static let parameters: [ParameterDefinition] = [
        .init(
            name: "inputImage",
            summary: "The picture that is laid on the photo: the SHA-256 of its content.",
            kind: .resource, defaultValue: nil),
        .point(
            "position", "Where its bottom left corner lies; rounded to whole pixels.",
            default: [0, 0]),
        .number(
            "scale", "Pixels of the photo for one of the picture.", default: 1, 0.001...1000,
            .pixelsPerPixel),
        .number("opacity", "0 is invisible.", default: 1, 0...1, identity: 0),
    ]

    init(_ filter: Filter, _ context: FilterContext, _ blend: @escaping Blend) throws(Failure) {
        picture = try context.picture(
            filter.text("inputImage"), .scaled(filter.number("scale")))
        let position = filter.vector("position").map { Int(($0 + 0.5).rounded(.down)) }
        (left, bottom) = (position[0], position[1])
        opacity = Float(filter.number("opacity"))
        self.blend = blend
    }

    /// Creates a blend mode's definition.
    ///
    /// - Parameters:
    ///   - gain: recomputed, except for modes that are undefined beyond a light of 1.
    ///   - light: unlimited, except for modes whose result falls or stays constant with light above white.
    static func definition(
        _ name: String, _ summary: String, _ fidelity: FilterDefinition.Fidelity, _ formula: String,
        gain: GainRule = .recomputed, light: LightRule = .unlimited, _ blend: @escaping Blend
    ) -> FilterDefinition {
        FilterDefinition(
            name: name, summary: summary, category: .local, parameters: parameters,
            fidelity: fidelity,
            source: formula
                + " W3C Compositing and Blending Level 1, on linear light; b is the photo, s the picture.",
            gain: gain, light: light,
            kernel: .pixel { filter, context throws(Failure) in
                try Overlay(filter, context, blend)
            })
    }

    func apply(to pixels: PixelChunk) {
        let row = picture.size.height - 1 - (Int(pixels.y.rounded(.down)) - bottom)
        let start = Int(pixels.x.rounded(.down)) - left
        let first = max(0, -start)
        let count = min(pixels.count, picture.size.width - start) - first
        guard (0..<picture.size.height).contains(row), count > 0 else { return }
        let below = pixels.part(first, count)
        below.withCopy { above in
            read(above, row: row, column: start + first)
            Self.lay(above, on: below, blend)
        }
    }

    private func read(_ chunk: PixelChunk, row: Int, column: Int) {
        let light = EncodedLight.table
        let scale = opacity / 255
        picture.codes.withUnsafeBufferPointer { codes in
            var index = 4 * (row * picture.size.width + column)
            for i in 0..<chunk.count {
                chunk.red[i] = light[Int(codes[index])]
                chunk.green[i] = light[Int(codes[index + 1])]
                chunk.blue[i] = light[Int(codes[index + 2])]
                chunk.alpha[i] = Float(codes[index + 3]) * scale
                index += 4
            }
        }
    }

    /// Composites pixels, whose alpha is used up, over others.
    static func lay(_ above: PixelChunk, on below: PixelChunk, _ blend: Blend) {
        above.withCopy { blended in
            for index in 0..<3 {
                let (plane, source) = (below.colours[index], above.colours[index])
                let mixed = blended.colours[index]
                blend(plane, mixed, below.count)
                for i in 0..<below.count {
                    let (a, b) = (above.alpha[i], below.alpha[i])
                    let alpha = 1 - (1 - a) * (1 - b)
                    let sum =
                        a * ((1 - b) * source[i] + b * mixed[i]) + (1 - a) * b * plane[i]
                    plane[i] = alpha > 0 ? sum / alpha : 0
                }
            }
        }
        for i in 0..<below.count {
            below.alpha[i] = 1 - (1 - above.alpha[i]) * (1 - below.alpha[i])
        }
    }
}

extension PixelChunk {
    /// Returns some of the pixels, in place.
    func part(_ first: Int, _ count: Int) -> PixelChunk {
        PixelChunk(
            count: count, red: red + first, green: green + first, blue: blue + first,
            alpha: alpha + first, x: x + Double(first), y: y)
    }
}

/// CIColorBurnBlendMode: B = 1 for b = 1, 0 for s = 0, else 1 − min(1, (1 − b)/s).
enum CIColorBurnBlendMode {
    static let definition = Overlay.definition(
        "CIColorBurnBlendMode", "Darkens the photo strongly where the picture is dark.",
        .measured(rms: 1.0),
        "B = 1 for b = 1, 0 for s = 0, else 1 − min(1, (1 − b)/s).", gain: .dropped,
        light: .upToWhite,
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            above[i] = b >= 1 ? 1 : s <= 0 ? 0 : 1 - min(1, (1 - b) / s)
        }
    }
}

/// CIColorDodgeBlendMode: B = 0 for b = 0, 1 for s = 1, else min(1, b/(1 − s)).
enum CIColorDodgeBlendMode {
    static let definition = Overlay.definition(
        "CIColorDodgeBlendMode", "Brightens the photo strongly where the picture is bright.",
        .measured(rms: 1.0),
        "B = 0 for b = 0, 1 for s = 1, else min(1, b/(1 − s)).", gain: .dropped, light: .upToWhite,
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            above[i] = b <= 0 ? 0 : s >= 1 ? 1 : min(1, b / (1 - s))
        }
    }
}

/// CIExclusionBlendMode: B = b + s − 2bs.
enum CIExclusionBlendMode {
    static let definition = Overlay.definition(
        "CIExclusionBlendMode", "Like the difference, with less contrast.", .measured(rms: 0.64),
        "B = b + s − 2bs.", gain: .dropped, light: .upToWhite,
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            above[i] = below[i] + above[i] - 2 * below[i] * above[i]
        }
    }
}

/// CIDarkenBlendMode: B = min(b, s).
enum CIDarkenBlendMode {
    static let definition = Overlay.definition(
        "CIDarkenBlendMode", "Keeps the darker of photo and picture.", .measured(rms: 1.2),
        "B = min(b, s).",
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            above[i] = min(below[i], above[i])
        }
    }
}

/// CILightenBlendMode: B = max(b, s).
enum CILightenBlendMode {
    static let definition = Overlay.definition(
        "CILightenBlendMode", "Keeps the brighter of photo and picture.", .measured(rms: 1.2),
        "B = max(b, s).",
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            above[i] = max(below[i], above[i])
        }
    }
}

/// CIScreenBlendMode: B = b + s − b·s.
enum CIScreenBlendMode {
    static let definition = Overlay.definition(
        "CIScreenBlendMode", "Brightens the photo by a picture, as two projectors on one screen.",
        .measured(rms: 0.62),
        "B = b + s − b·s.",
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            above[i] = below[i] + above[i] - below[i] * above[i]
        }
    }
}

/// CIMultiplyBlendMode: B = b·s.
enum CIMultiplyBlendMode {
    static let definition = Overlay.definition(
        "CIMultiplyBlendMode",
        "Darkens the photo by a picture, as two slides on top of each other.", .measured(rms: 0.95),
        "B = b·s.",
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            above[i] *= below[i]
        }
    }
}

/// CIDifferenceBlendMode: B = |b − s|.
enum CIDifferenceBlendMode {
    static let definition = Overlay.definition(
        "CIDifferenceBlendMode", "Shows how far photo and picture are from each other.",
        .measured(rms: 0.92),
        "B = |b − s|.", gain: .dropped,
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            above[i] = abs(below[i] - above[i])
        }
    }
}

/// CIHardLightBlendMode: B = 2bs for s ≤ ½, else screen(b, 2s − 1).
enum CIHardLightBlendMode {
    static let definition = Overlay.definition(
        "CIHardLightBlendMode", "Multiplies where the picture is dark, screens where it is bright.",
        .measured(rms: 4.3),
        "B = 2bs for s ≤ ½, else screen(b, 2s − 1).", gain: .dropped,
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            above[i] = s <= 0.5 ? 2 * b * s : b + (2 * s - 1) - b * (2 * s - 1)
        }
    }
}

/// CISoftLightBlendMode: B = b − (1 − 2s)·b·(1 − b) for s ≤ ½, else b + (2s − 1)(D − b), D = ((16b − 12)b + 4)b for b ≤ ¼, else √b. Core Image's exact variant is not settled.
enum CISoftLightBlendMode {
    static let definition = Overlay.definition(
        "CISoftLightBlendMode", "Darkens or brightens the photo gently by a picture.", .lookAlike,
        """
        B = b − (1 − 2s)·b·(1 − b) for s ≤ ½, else b + (2s − 1)(D − b), D = ((16b − 12)b + 4)b for b ≤ ¼, else √b. \
        Core Image's exact variant is not settled.
        """, gain: .dropped, light: .upToWhite,
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            let d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : b.squareRoot()
            above[i] =
                s <= 0.5
                ? b - (1 - 2 * s) * b * (1 - b) : b + (2 * s - 1) * (d - b)
        }
    }
}

/// CIOverlayBlendMode: B = hard light with b and s swapped. Core Image's exact variant is not settled.
enum CIOverlayBlendMode {
    static let definition = Overlay.definition(
        "CIOverlayBlendMode", "Darkens what is dark and brightens what is bright in the photo.",
        .lookAlike,
        "B = hard light with b and s swapped. Core Image's exact variant is not settled.",
        gain: .dropped,
        blend)
    static let blend: Overlay.Blend = { below, above, count in
        for i in 0..<count {
            let (b, s) = (below[i], above[i])
            above[i] = b <= 0.5 ? 2 * b * s : s + (2 * b - 1) - s * (2 * b - 1)
        }
    }
}

/// CISourceOverCompositing: a picture composited over the photo.
enum CISourceOverCompositing {
    static let definition = Overlay.definition(
        "CISourceOverCompositing", "Lays a picture on the photo: a watermark.", .measured(rms: 0.1),
        "B = s. Core Image's own pixels agree within 0.1.",
        blend)
    static let blend: Overlay.Blend = { _, _, _ in }
}
