import Codecs
import Edits
import Filters

/// The meaning of the codes of a movie's frames.
struct FrameColour: Sendable, Equatable {
    /// The description of colour by one source: numbers of ITU-T H.273, or nil where it is silent. 2 means unspecified there and
    /// counts as nil.
    struct Declaration: Sendable, Equatable {
        var primaries: Int?, transfer: Int?, matrix: Int?
        /// nil for `nclc` and for a stream without a description of its signal.
        var isFullRange: Bool?

        init(
            primaries: Int? = nil, transfer: Int? = nil, matrix: Int? = nil,
            isFullRange: Bool? = nil
        ) {
            (self.primaries, self.transfer) = (primaries, transfer)
            (self.matrix, self.isFullRange) = (matrix, isFullRange)
        }
    }

    /// The conversion from luma and differences to red, green and blue.
    let codes: YCbCrColour
    let primaries: FramePrimaries
    let transfer: TransferFunction
    /// The description for the encoder's stream. The matrix and the range are always stated: their defaults depend on the size, which
    /// an edit may change. Primaries and transfer function that nobody declares stay undeclared.
    let declared: Declaration

    /// The most lines of a standard-definition movie, for movies that do not declare their matrix.
    private static let standardLinesMax = 576

    /// Combines the declarations, field by field: the container's first, then the stream's, then defaults: limited range, BT.709,
    /// and the matrix of BT.601 up to 576 lines.
    ///
    /// - Parameters:
    ///   - layout: the layout of decoded, stored frames; its colour description fills gaps of the stream's.
    ///   - container: a `colr` box.
    ///   - stream: the description in the parameter sets.
    /// - Throws: `unsupportedFormat` for unsupported colours, and for frames without chroma.
    init(
        of layout: FrameLayout, container: Declaration = Declaration(),
        stream: Declaration = Declaration()
    ) throws(Failure) {
        func first(_ numbers: Int?...) -> Int? { numbers.compactMap(\.self).first { $0 != 2 } }
        guard layout.hasChroma else {
            throw Failure(
                .unsupportedFormat,
                "The movie's frames have no chroma, which is not supported; expected is luma with two planes of chroma."
            )
        }
        let primaries = first(container.primaries, stream.primaries) ?? 1
        guard let known = FramePrimaries(rawValue: primaries) else {
            throw Self.unsupported("primaries", primaries, "1, 5, 6, 9 and 12")
        }
        let transfer = first(container.transfer, stream.transfer) ?? 1
        guard let function = TransferFunction(h273: transfer) else {
            throw Self.unsupported(
                "transfer function", transfer, "1, 4, 5, 6, 8, 13, 14, 15, 16 and 18")
        }
        let usual = layout.height <= Self.standardLinesMax ? 6 : 1
        let matrix = first(container.matrix, stream.matrix, layout.matrix) ?? usual
        guard [1, 4, 5, 6, 7, 9].contains(matrix) else {
            throw Self.unsupported("matrix", matrix, "1, 4, 5, 6, 7 and 9")
        }
        let isFullRange =
            container.isFullRange ?? stream.isFullRange ?? layout.isFullRange ?? false
        do throws(HEICError) {
            codes = try YCbCrColour(matrix: matrix, isFullRange: isFullRange, bits: layout.bits)
        } catch {
            throw Failure(.unsupportedFormat, "The movie's colours cannot be read: \(error).")
        }
        (self.primaries, self.transfer) = (known, function)
        declared = Declaration(
            primaries: first(container.primaries, stream.primaries),
            transfer: first(container.transfer, stream.transfer), matrix: matrix,
            isFullRange: isFullRange)
    }

    private static func unsupported(_ what: String, _ number: Int, _ known: String) -> Failure {
        Failure(
            .unsupportedFormat,
            "The movie's colours have \(what) \(number) of ITU-T H.273, which is not supported; known are \(known). "
                + "Convert the movie to BT.709, for example.")
    }

    /// Whether red, green and blue beyond black and white are kept. In full-range codes they can only be compression artefacts, and
    /// are clipped as in a JPEG.
    var isExtended: Bool { !codes.isFullRange }
}

extension FrameColour {
    /// The matrix from linear light to that of sRGB's primaries; nil when they are the same.
    var toWorking: ColourMatrix? { primaries.toWorking }
    /// The inverse of ``toWorking``.
    var fromWorking: ColourMatrix? { toWorking?.inverse }

    /// - Parameter white: the value of white in red, green and blue.
    func equations(white: Double) -> PlaneEquations {
        guard let equations = PlaneEquations(codes, white: white) else {
            preconditionFailure("init refuses planes of green, blue and red")
        }
        return equations
    }
}

/// The red, green and blue of a movie, by their number in ITU-T H.273 table 2. All have white D65.
enum FramePrimaries: Int, Sendable {
    case bt709 = 1
    /// BT.601 of 625 lines.
    case bt470BG = 5
    /// BT.601 of 525 lines.
    case smpte170M = 6
    case bt2020 = 9
    case displayP3 = 12

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
