package import Edits

/// Combines neighbouring per-pixel filters: matrices become one matrix, curves one table, and neutral filters vanish.
package enum PixelFusion {
    /// Filters that are computed together.
    package struct Group {
        /// The number of filters.
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
