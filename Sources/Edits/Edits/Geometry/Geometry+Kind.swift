extension Geometry {
    /// The cheapest way to apply a geometry.
    public enum Kind: Sendable, Equatable {
        /// Nothing.
        case identity
        /// Whole pixels are cropped; nothing is computed.
        case crop(PixelRectangle)
        /// Whole pixels are moved; nothing is computed.
        case turn(Orientation)
        /// Rows and columns are resampled separately.
        case scale
        /// Everything else: each pixel is interpolated in two dimensions.
        case warp
    }

    /// The kind of the geometry. A crop with a turn, or a scale with a turn, has its parts in ``steps``.
    public var kind: Kind {
        guard let turn = turning else { return .warp }
        guard isLossless else { return turn == .upright ? .scale : .warp }
        if turn == .upright {
            return shown == PixelRectangle(source) ? .identity : .crop(shown)
        }
        return .turn(turn)
    }

    /// The pixels of the source that make the result, when it is lossless.
    private var shown: PixelRectangle {
        let corners = PixelRectangle(size).corners
        return PixelRectangle(toSource(corners[0]), toSource(corners[2]))
    }

    /// The same geometry as a sequence: a crop or a scale, then a turn; or a warp.
    public var steps: [Geometry] {
        guard let turning, turning != .upright else { return kind == .identity ? [] : [self] }
        let turn = Geometry(of: turning.inverse.size(of: size), turn: turning)
        let rest = then(Geometry(of: size, turn: turning.inverse))
        return (rest.kind == .identity ? [] : [rest]) + [turn]
    }

    /// Whether the result has the source's own pixels: cropped, turned, mirrored.
    public var isLossless: Bool {
        let m = toSource.values
        return turning != nil && edges.isEmpty
            && [0, 1, 3, 4].allSatisfy { [-1, 0, 1].contains(m[$0]) }
            && m[2] == m[2].rounded() && m[5] == m[5].rounded()
    }

    /// Whether width and height are swapped, at least approximately.
    public var swapsSides: Bool {
        let m = toSource.values
        return abs(m[1]) + abs(m[3]) > abs(m[0]) + abs(m[4])
    }

    /// The orientation of its axes relative to the source's, if they are parallel.
    private var turning: Orientation? {
        let m = toSource.values
        guard toSource.isAffine else { return nil }
        func sign(_ value: Double) -> Double { value > 0 ? 1 : value < 0 ? -1 : 0 }
        let signs = [sign(m[0]), sign(m[1]), sign(m[3]), sign(m[4])]
        return Orientation.allCases.first { $0.signs == signs }
    }
}

extension Geometry: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        let kinds = steps.map { step in
            switch step.kind {
            case .identity: "nothing"
            case .crop(let part): "crop to \(part)"
            case .turn(let turn): "turn \(turn.label)"
            case .scale: "scale \(step.part) to \(step.size), Lanczos"
            case .warp: "resample \(step.part) to \(step.size), bicubic"
            }
        }
        return kinds.isEmpty ? "nothing" : kinds.joined(separator: ", ")
    }
}
