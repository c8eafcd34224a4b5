public import Edits

/// Combines neighbouring per-pixel filters: matrices become one matrix, curves one table, and neutral filters vanish.
package enum PixelFusion {
    /// Filters that are computed together.
    package struct Group {
        package let count: Int
        /// The filter that computes them; nil if they change nothing.
        package let working: (any PixelFilter)?
        /// The form into which they were combined, or nil for a single filter.
        package let form: Joined?
    }

    /// The forms into which filters are combined.
    package enum Joined { case matrix, curve, encodedMatrices, nothing }

    /// Returns the filters in groups, in their order.
    package static func groups(of filters: [any PixelFilter]) -> [Group] {
        var groups: [Group] = []
        var waiting: (form: PixelForm, filters: [any PixelFilter])?
        func end() {
            guard let (form, filters) = waiting else { return }
            groups += group(form, filters)
            waiting = nil
        }
        for filter in filters {
            guard let form = (filter as? any FusiblePixels)?.form else {
                end()
                groups.append(Group(count: 1, working: filter, form: nil))
                continue
            }
            if let (before, filters) = waiting, let joined = before.then(form) {
                waiting = (joined, filters + [filter])
            } else {
                end()
                waiting = (form, [filter])
            }
        }
        end()
        return groups
    }

    private static func group(_ form: PixelForm, _ filters: [any PixelFilter]) -> [Group] {
        let count = filters.count
        switch form {
        case .matrix(let transform):
            if transform.isNearlyIdentity {
                return [Group(count: count, working: nil, form: .nothing)]
            }
            return [
                Group(count: count, working: MatrixPixels(transform: transform), form: .matrix)
            ]
        case .encodedMatrices(let transforms):
            return [
                Group(
                    count: count, working: EncodedMatrixPixels(transforms: transforms),
                    form: .encodedMatrices)
            ]
        case .curve(let function):
            if isNearlyIdentity(function) {
                return [Group(count: count, working: nil, form: .nothing)]
            }
            if let curve = CurvePixels(function) {
                return [Group(count: count, working: curve, form: .curve)]
            }
            guard count > 1 else { return [Group(count: 1, working: filters[0], form: nil)] }
            // The combined curve has corners. Those of its filters that have none become tables individually.
            return filters.flatMap { groups(of: [$0]) }
        }
    }

    /// Whether a curve changes no 16-bit code.
    private static func isNearlyIdentity(_ curve: (Double) -> Double) -> Bool {
        let scale = LightCurve.scale
        return (0..<scale.count).allSatisfy { entry in
            let light = scale.lowerEnd(of: entry)
            return [light, -light].allSatisfy { abs(curve($0) - $0) < 1e-7 * max(1, light) }
        }
    }
}

/// A per-pixel filter whose mathematics can be combined with that of its neighbours in the chain.
package protocol FusiblePixels: PixelFilter {
    /// Its mathematics; nil if its parameters allow no such form.
    var form: PixelForm? { get }
}

/// The mathematics of a per-pixel filter, in forms that can be combined.
package enum PixelForm: Sendable {
    /// A matrix and an offset on linear light.
    case matrix(ColourTransform)
    /// A function from light to light, also negative, the same for red, green and blue.
    case curve(@Sendable (Double) -> Double)
    /// Matrices and offsets on sRGB-encoded values, each clamped to 0 to 1.
    case encodedMatrices([ColourTransform])

    /// The largest half-precision number, the format of Core Image's pixels.
    package static let lightMax = 65_504.0

    /// Returns this form followed by `next`; nil if the two forms cannot be combined.
    func then(_ next: PixelForm) -> PixelForm? {
        switch (self, next) {
        case (.matrix(let first), .matrix(let second)): .matrix(first.then(second))
        case (.curve(let first), .curve(let second)):
            .curve { second(min(max(first($0), -Self.lightMax), Self.lightMax)) }
        case (.encodedMatrices(let first), .encodedMatrices(let second)):
            .encodedMatrices(first + second)
        default: nil
        }
    }
}

extension PixelChunk {
    /// Red, green and blue, for filters that treat them alike.
    var colours: [UnsafeMutablePointer<Float>] { [red, green, blue] }

    /// Converts linear light to sRGB-encoded values, also beyond 0 to 1.
    func encode() {
        for plane in colours { LightCurve.encoding.applySigned(to: plane, count: count) }
    }

    /// Reverses ``encode()``.
    func decode() {
        for plane in colours { LightCurve.decoding.applySigned(to: plane, count: count) }
    }

    /// Multiplies each colour by a matrix of nine numbers, row by row.
    public func multiply(by m: [Float]) {
        let (red, green, blue) = (red, green, blue)
        let (m0, m1, m2, m3, m4) = (m[0], m[1], m[2], m[3], m[4])
        let (m5, m6, m7, m8) = (m[5], m[6], m[7], m[8])
        for i in 0..<count {
            let (r, g, b) = (red[i], green[i], blue[i])
            red[i] = m0 * r + m1 * g + m2 * b
            green[i] = m3 * r + m4 * g + m5 * b
            blue[i] = m6 * r + m7 * g + m8 * b
        }
    }

    func makeGrey() {
        green.update(from: red, count: count)
        blue.update(from: red, count: count)
    }

    /// Clamps colours to 0 to 1.
    func clamp() {
        for plane in colours {
            for i in 0..<count { plane[i] = min(max(plane[i], 0), 1) }
        }
    }

    /// Clamps alpha to 0 to 1: other values are meaningless.
    func limitAlpha() {
        for i in 0..<count { alpha[i] = min(max(alpha[i], 0), 1) }
    }
}

extension Filter {
    /// Returns a colour parameter as linear light, not multiplied by its alpha. Core Image colour-manages parameters like pixels
    /// (measured with the sRGB colour #ff56ac).
    func light(_ parameter: String) -> Light {
        let encoded = vector(parameter)
        let light = encoded.prefix(3).map { Float(ToneCurve.sRGB.linear($0)) }
        return Light(red: light[0], green: light[1], blue: light[2], alpha: Float(encoded[3]))
    }

    /// Returns the numbers of a vector in the type that pixel loops use.
    func floats(_ parameter: String) -> [Float] { vector(parameter).map(Float.init) }
}

/// A colour in linear light with sRGB primaries.
struct Light: Sendable {
    let red, green, blue, alpha: Float
}
