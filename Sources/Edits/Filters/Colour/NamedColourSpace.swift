import Edits

/// The colour spaces that parameters can name.
enum NamedColourSpace: String, CaseIterable, Sendable {
    /// sRGB-encoded values, the input of most tables.
    case sRGB
    /// Display P3, encoded as sRGB is.
    case displayP3
    /// Linear light with sRGB primaries, Core Image's working space.
    case linearSRGB

    /// Returns a parameter whose value names a colour space.
    static func parameter(_ name: String, _ summary: String) -> ParameterDefinition {
        .choice(name, summary, allCases.map(\.rawValue))
    }

    /// Creates the colour space that such a parameter names.
    init(_ filter: Filter, _ parameter: String) {
        guard let space = Self(rawValue: filter.text(parameter)) else {
            preconditionFailure("\(parameter) is a choice of colour spaces")
        }
        self = space
    }

    /// The matrix from linear light of Display P3 (white D65) to linear sRGB: SMPTE EG 432-1 and IEC 61966-2-1 via XYZ, with the
    /// matrices of CSS Color 4 §18.
    private static let p3ToSRGB: [Float] = [
        1.2249401763, -0.2249401763, 0,
        -0.0420569547, 1.0420569547, 0,
        -0.0196375546, -0.0786360456, 1.0982736002,
    ]
    private static let sRGBToP3: [Float] = [
        0.8224619688, 0.1775380312, 0,
        0.0331941989, 0.9668058011, 0,
        0.0170826307, 0.0723974407, 0.9105199286,
    ]

    /// Converts working values to this space.
    func enter(_ pixels: PixelChunk) {
        if self == .displayP3 { pixels.multiply(by: Self.sRGBToP3) }
        if self != .linearSRGB { pixels.encode() }
    }

    /// Converts values of this space to working values.
    func leave(_ pixels: PixelChunk) {
        if self != .linearSRGB { pixels.decode() }
        if self == .displayP3 { pixels.multiply(by: Self.p3ToSRGB) }
    }
}
