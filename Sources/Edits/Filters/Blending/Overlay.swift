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

    /// The parameters of all blend modes.
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
            .pixels),
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
            lay(above, on: below)
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

    private func lay(_ above: PixelChunk, on below: PixelChunk) {
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
    fileprivate func part(_ first: Int, _ count: Int) -> PixelChunk {
        PixelChunk(
            count: count, red: red + first, green: green + first, blue: blue + first,
            alpha: alpha + first, x: x + Double(first), y: y)
    }
}
