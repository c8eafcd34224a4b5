import Edits

/// CIDither, a look-alike: adds noise against banding.
///
/// The noise is the difference of two uniform ones (triangular, mean 0), the standard dither for rounding. At the default intensity
/// it reaches one 8-bit step to each side, in encoded values. It depends only on the pixel's position and channel, so that a render
/// is reproducible to the bit.
struct CIDither: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIDither",
        summary: "Adds fine noise, against steps in smooth gradients.",
        category: .stylise,
        parameters: [
            .number(
                "inputIntensity", "0.1 reaches one step of 8 bits to each side.", default: 0.1,
                0...5, identity: 0)
        ],
        fidelity: .lookAlike,
        source:
            "Apple's noise is unpublished. Ours is triangular, on encoded values, and the same in each render.",
        gain: .kept,
        light: .unlimited,
        kernel: .pixel { filter, _ in CIDither(filter) })

    private let amplitude: Float
    var usesPosition: Bool { true }

    init(_ filter: Filter) {
        amplitude = Float(filter.number("inputIntensity") / 0.1 / 255)
    }

    func apply(to pixels: PixelChunk) {
        guard amplitude > 0 else { return }
        pixels.encode()
        let row = UInt64(bitPattern: Int64(pixels.y.rounded(.down)))
        for (channel, plane) in pixels.colours.enumerated() {
            for i in 0..<pixels.count {
                let column = UInt64(bitPattern: Int64(pixels.x.rounded(.down)) + Int64(i))
                let bits = Self.hash(row << 34 ^ column << 2 ^ UInt64(channel))
                let (a, b) = (bits >> 40, bits >> 8 & 0xFF_FFFF)
                plane[i] += amplitude * (Float(a) - Float(b)) / 0x100_0000
            }
        }
        pixels.decode()
    }

    /// The finaliser of SplitMix64 (G. Steele and others, 2014): each bit depends on all.
    private static func hash(_ number: UInt64) -> UInt64 {
        var z = number &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
