import Edits
import Glibc

/// CIRadialGradient: from one colour within a circle to another outside of a larger one.
///
///     t = clamp((|q − c| − r₀) / (r₁ − r₀))
struct CIRadialGradient: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIRadialGradient",
        summary: "From one colour within a circle to another outside of a second circle.",
        category: .gradient,
        parameters: [
            .point("inputCenter", "The middle of both circles.", default: [150, 150]),
            .number(
                "inputRadius0", "Where the first colour ends.", default: 5, 0...1e7, .pixels),
            .number(
                "inputRadius1", "Where the second colour begins; it may be the smaller circle.",
                default: 100, 0...1e7, .pixels),
        ] + Gradient.colours("The colour at the first circle.", "The colour at the second circle."),
        fidelity: .exact,
        source:
            "Mixed in linear light, multiplied by alpha; Core Image's published formula. Equal radii make an edge.",
        kernel: .generator { filter, _ in CIRadialGradient(filter) })

    private let gradient: Gradient
    private let x, y, radius, width: Double
    var usesPosition: Bool { true }

    init(_ filter: Filter) {
        let centre = filter.vector("inputCenter")
        (x, y) = (centre[0], centre[1])
        radius = filter.number("inputRadius0")
        let rise = filter.number("inputRadius1") - radius
        // A tiny width instead of 0 avoids 0 / 0.
        width = rise == 0 ? 1e-6 : rise
        gradient = Gradient(filter)
    }

    func apply(to pixels: PixelChunk) {
        let dy = pixels.y - y
        for i in 0..<pixels.count {
            let dx = pixels.x + Double(i) - x
            let distance = (dx * dx + dy * dy).squareRoot()
            gradient.write(Float(min(max((distance - radius) / width, 0), 1)), to: pixels, i)
        }
    }
}

/// A mixture of two colours by position: linear light is mixed multiplied by alpha, and divided again.
struct Gradient: Sendable {
    private let first, second: Light

    init(_ filter: Filter) {
        first = filter.light("inputColor0")
        second = filter.light("inputColor1")
    }

    /// Writes the mixture with `share` of the second colour, 0 to 1.
    @inline(__always)
    func write(_ share: Float, to pixels: PixelChunk, _ index: Int) {
        let (a, b) = (first.alpha * (1 - share), second.alpha * share)
        let alpha = a + b
        let factor = alpha > 0 ? 1 / alpha : 0
        pixels.red[index] = (first.red * a + second.red * b) * factor
        pixels.green[index] = (first.green * a + second.green * b) * factor
        pixels.blue[index] = (first.blue * a + second.blue * b) * factor
        pixels.alpha[index] = alpha
    }

    static func colours(_ first: String, _ second: String, fading: Bool = false)
        -> [ParameterDefinition]
    {
        [
            .color("inputColor0", first, default: [1, 1, 1, 1]),
            .color("inputColor1", second, default: [0, 0, 0, fading ? 0 : 1]),
        ]
    }
}

/// CIGaussianGradient: fades from one colour to another around a place.
///
///     share of the first colour = e^(−½ (3 |q − c| / r)²)
struct CIGaussianGradient: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIGaussianGradient",
        summary: "Fades softly from one colour to another around a place.",
        category: .gradient,
        parameters: [
            .point("inputCenter", "Where the first colour is.", default: [150, 150]),
            .number(
                "inputRadius", "Where hardly anything of it is left: three σ.", default: 300,
                0...1e7, .pixels),
        ]
            + Gradient.colours(
                "The colour in the middle.", "The colour far away.", fading: true),
        fidelity: .lookAlike,
        source: """
            Core Image documents a Gaussian and not its width; ours has σ = radius / 3, which leaves 1 % at the radius. Mixed in \
            linear light, multiplied by alpha.
            """,
        kernel: .generator { filter, _ in CIGaussianGradient(filter) })

    private let gradient: Gradient
    private let centre: (x: Double, y: Double)
    private let scale: Double
    private let shares: RadialTable
    var usesPosition: Bool { true }

    /// The distance, in σ, at which less than a 16-bit code of the first colour is left: e^−18.
    private static let reach = 6.0

    init(_ filter: Filter) {
        let point = filter.vector("inputCenter")
        centre = (point[0], point[1])
        let sigma = max(filter.number("inputRadius") / 3, 1e-3)
        scale = -0.5 / (sigma * sigma)
        gradient = Gradient(filter)
        shares = RadialTable(over: 0...Self.reach * sigma) { [scale] in 1 - exp(scale * $0 * $0) }
    }

    func apply(to pixels: PixelChunk) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: PixelChunk.capacity) { memory in
            guard let row = memory.baseAddress else { return }
            shares.fill(row, for: pixels, from: centre) { 1 - exp(scale * $0 * $0) }
            for i in 0..<pixels.count { gradient.write(row[i], to: pixels, i) }
        }
    }
}

/// CILinearGradient and CISmoothLinearGradient: from one colour to another along a line.
///
///     t = clamp((q − p₀)·(p₁ − p₀) / |p₁ − p₀|²)      smooth: t² (3 − 2t)
struct LinearGradient: PixelFilter {
    private let gradient: Gradient
    private let x, y, dx, dy: Double
    private let isSmooth: Bool
    var usesPosition: Bool { true }

    static let parameters: [ParameterDefinition] =
        [
            .point("inputPoint0", "Where the first colour ends.", default: [0, 0]),
            .point("inputPoint1", "Where the second colour begins.", default: [200, 200]),
        ]
        + Gradient.colours(
            "The colour before the first point.", "The colour after the second point.")

    init(_ filter: Filter, isSmooth: Bool) throws(Failure) {
        let (from, to) = (filter.vector("inputPoint0"), filter.vector("inputPoint1"))
        let (width, height) = (to[0] - from[0], to[1] - from[1])
        let square = width * width + height * height
        guard square > 0 else {
            throw Failure(
                .invalidValue,
                "\(filter.name)'s two points are both \(from); expected two places, between which the "
                    + "colour changes.")
        }
        gradient = Gradient(filter)
        (x, y) = (from[0], from[1])
        (dx, dy) = (width / square, height / square)
        self.isSmooth = isSmooth
    }

    func apply(to pixels: PixelChunk) {
        let start = (pixels.x - x) * dx + (pixels.y - y) * dy
        for i in 0..<pixels.count {
            let t = Float(min(max(start + Double(i) * dx, 0), 1))
            gradient.write(isSmooth ? t * t * (3 - 2 * t) : t, to: pixels, i)
        }
    }
}

/// CILinearGradient: from one colour to another along a line, evenly.
enum CILinearGradient {
    static let definition = FilterDefinition(
        name: "CILinearGradient",
        summary: "From one colour to another along a line, evenly.",
        category: .gradient,
        parameters: LinearGradient.parameters,
        fidelity: .exact,
        source: "Mixed in linear light, multiplied by alpha; Core Image's published formula.",
        kernel: .generator { filter, _ throws(Failure) in
            try LinearGradient(filter, isSmooth: false)
        })
}

/// CISmoothLinearGradient: from one colour to another along a line, softly.
enum CISmoothLinearGradient {
    static let definition = FilterDefinition(
        name: "CISmoothLinearGradient",
        summary: "From one colour to another along a line, softly.",
        category: .gradient,
        parameters: LinearGradient.parameters,
        fidelity: .measured(rms: 1),
        source:
            "Mixed in linear light, multiplied by alpha, by t²(3 − 2t), as Core Image's own pixels are.",
        kernel: .generator { filter, _ throws(Failure) in
            try LinearGradient(filter, isSmooth: true)
        })
}

/// `picture`: a file as a mask, stretched over the photo.
struct PictureGenerator: PixelFilter {
    static let definition = FilterDefinition(
        name: "picture",
        summary: "A picture of the folder of resources, stretched over the photo.",
        category: .gradient,
        parameters: [
            .init(
                name: "file", summary: "The SHA-256 of its content.", kind: .resource,
                defaultValue: nil)
        ],
        fidelity: .exact,
        source: """
            Any format that photos may have, at most 16,777,216 pixels. Of another size than the photo it is stretched to \
            it, with straight lines between its pixels.
            """,
        kernel: .generator { filter, context throws(Failure) in
            PictureGenerator(
                try context.picture(filter.text("file"), .within(context.size)), context.size)
        })

    private let picture: ResourcePicture
    private let size: PixelSize
    var usesPosition: Bool { true }

    init(_ picture: ResourcePicture, _ size: PixelSize) {
        self.picture = picture
        self.size = size
    }

    func apply(to pixels: PixelChunk) {
        let (width, height) = (picture.size.width, picture.size.height)
        let (scaleX, scaleY) = (
            Double(width) / Double(size.width), Double(height) / Double(size.height)
        )
        let v = Double(height) - pixels.y * scaleY - 0.5
        let top = v.rounded(.down)
        let down = Float(v - top)
        let first = min(max(Int(top), 0), height - 1) * width
        let second = min(max(Int(top) + 1, 0), height - 1) * width
        let light = EncodedLight.table
        picture.codes.withUnsafeBufferPointer { codes in
            for i in 0..<pixels.count {
                let u = (pixels.x + Double(i)) * scaleX - 0.5
                let left = u.rounded(.down)
                let across = Float(u - left)
                let a = min(max(Int(left), 0), width - 1)
                let b = min(max(Int(left) + 1, 0), width - 1)
                let indices = (4 * (first + a), 4 * (first + b), 4 * (second + a), 4 * (second + b))
                let shares = (
                    (1 - across) * (1 - down), across * (1 - down), (1 - across) * down,
                    across * down
                )
                // Multiplied by alpha, so that transparent pixels contribute no colour.
                let alphas = (
                    shares.0 * Float(codes[indices.0 + 3]), shares.1 * Float(codes[indices.1 + 3]),
                    shares.2 * Float(codes[indices.2 + 3]), shares.3 * Float(codes[indices.3 + 3])
                )
                let alpha = alphas.0 + alphas.1 + alphas.2 + alphas.3
                let factor = alpha > 0 ? 1 / alpha : 0
                func mixed(_ channel: Int) -> Float {
                    let sum =
                        alphas.0 * light[Int(codes[indices.0 + channel])]
                        + alphas.1 * light[Int(codes[indices.1 + channel])]
                        + alphas.2 * light[Int(codes[indices.2 + channel])]
                        + alphas.3 * light[Int(codes[indices.3 + channel])]
                    return sum * factor
                }
                pixels.red[i] = mixed(0)
                pixels.green[i] = mixed(1)
                pixels.blue[i] = mixed(2)
                pixels.alpha[i] = alpha / 255
            }
        }
    }
}

/// Linear light of 8-bit sRGB codes.
enum EncodedLight {
    static let table: [Float] = (0...255).map {
        Float(ToneCurve.sRGB.linear(Double($0) / 255))
    }
}
