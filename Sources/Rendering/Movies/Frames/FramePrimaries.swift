import Filters

/// The red, green and blue of a movie, by their number in ITU-T H.273 table 2. All have white D65.
enum FramePrimaries: Int, Sendable {
    case bt709 = 1
    /// BT.601 of 625 lines.
    case bt470BG = 5
    /// BT.601 of 525 lines.
    case smpte170M = 6
    case bt2020 = 9
    case displayP3 = 12

    /// Chromaticities of red, green and blue.
    private var chromaticities: [(x: Double, y: Double)] {
        switch self {
        case .bt709: [(0.640, 0.330), (0.300, 0.600), (0.150, 0.060)]
        case .bt470BG: [(0.640, 0.330), (0.290, 0.600), (0.150, 0.060)]
        case .smpte170M: [(0.630, 0.340), (0.310, 0.595), (0.155, 0.070)]
        case .bt2020: [(0.708, 0.292), (0.170, 0.797), (0.131, 0.046)]
        case .displayP3: [(0.680, 0.320), (0.265, 0.690), (0.150, 0.060)]
        }
    }

    /// D65.
    private static let white = (x: 0.3127, y: 0.3290)

    /// Linear light to XYZ: primaries scaled so that equal amounts of them are white (SMPTE RP 177).
    private var toXYZ: ColourMatrix? {
        func xyz(_ chromaticity: (x: Double, y: Double)) -> [Double] {
            [
                chromaticity.x / chromaticity.y, 1,
                (1 - chromaticity.x - chromaticity.y) / chromaticity.y,
            ]
        }
        let columns = chromaticities.map(xyz)
        let primaries = ColourMatrix(rows: (0..<9).map { columns[$0 % 3][$0 / 3] })
        guard let inverse = primaries.inverse else { return nil }
        let white = xyz(Self.white)
        let amounts = (0..<3).map { row in
            (0..<3).reduce(0) { $0 + inverse.rows[3 * row + $1] * white[$1] }
        }
        return ColourMatrix(rows: (0..<9).map { primaries.rows[$0] * amounts[$0 % 3] })
    }

    /// The matrix from linear light of these primaries to that of sRGB's, which are BT.709's; nil when they are the same.
    var toWorking: ColourMatrix? {
        guard self != .bt709, let own = toXYZ, let working = Self.bt709.toXYZ?.inverse else {
            return nil
        }
        return working * own
    }
}
