import Edits
import Filters
import RenderProtocol

extension Planner {
    /// Returns the passes of a recipe for a small copy of its photo, whose pixels correspond to the photo's.
    ///
    /// Each filter is made for the size that the copy has at that step. Geometries are those of the photo itself, transferred to
    /// the copy (``Geometry/seen(on:)``): if crops and scales were planned for the copy alone, they would round to other positions
    /// than the photo's.
    ///
    /// - Parameters:
    ///   - recipe: in pixels of the photo.
    ///   - header: the photo's header.
    ///   - copy: the copy's stored size, with the photo's proportions except for rounding.
    ///   - resources: the files that the recipe names.
    /// - Throws: errors of filters for invalid parameters.
    static func passes(
        of recipe: Recipe, for header: PhotoHeader, on copy: PixelSize, _ resources: Resources
    ) throws(Failure) -> [Pass] {
        var steps: [Pass] = []
        var full = header.uprightSize
        var small = header.resized(to: copy).uprightSize
        if let upright = Orientation(rawValue: header.orientation), upright != .upright {
            steps.append(.geometry(Geometry(of: copy, turn: upright)))
        }
        func context(_ size: PixelSize) -> FilterContext {
            FilterContext(size: size, resource: resources.bytes) { digest, fit throws(Failure) in
                try ResourcePicture(resources.file(digest), fit)
            }
        }
        for filter in recipe.filters where !filter.changesNothing {
            switch filter.definition.kernel {
            case .pixel(let make):
                let shown = try filter.shown(on: small, of: full)
                steps.append(
                    .pixels([
                        Pass.Pixel(filters: [shown], working: try make(shown, context(small)))
                    ]))
            case .neighbourhood(let make):
                let shown = try filter.shown(on: small, of: full)
                let working = try make(shown, context(small))
                steps.append(.neighbourhood(shown, working))
                let growth = try make(filter, context(full)).growth
                guard growth != .none else { continue }
                let fit = Geometry.fitting(small, grownBy: working.growth, full, grownBy: growth)
                steps.append(.geometry(fit))
                (small, full) = (fit.size, full.grown(by: growth))
            case .geometry(let make):
                let geometry = try make(filter, context(full))
                let seen = geometry.seen(on: small)
                steps.append(.geometry(seen))
                (small, full) = (seen.size, geometry.size)
            case .generator, .automatic:
                preconditionFailure("\(filter.name) is no step, or was not resolved")
            }
        }
        return passes(of: steps, keepsAlpha: false)
    }
}

extension Geometry {
    /// Maps a small picture that grew by whole pixels to one that grew by the same fraction as the full picture.
    fileprivate static func fitting(
        _ small: PixelSize, grownBy growth: Extent, _ full: PixelSize, grownBy fullGrowth: Extent
    ) -> Geometry {
        let grown = small.grown(by: growth)
        let fullGrown = full.grown(by: fullGrowth)
        let across = Double(small.width) / Double(full.width)
        let down = Double(small.height) / Double(full.height)
        let size = PixelSize(
            width: max(1, Int((Double(fullGrown.width) * across).rounded())),
            height: max(1, Int((Double(fullGrown.height) * down).rounded())))
        let (x, y) = (
            Double(fullGrown.width) / Double(size.width) * across,
            Double(fullGrown.height) / Double(size.height) * down
        )
        return Geometry(
            of: grown, size: size,
            toSource: Homography(
                affine: x, 0, Double(growth.columns) - Double(fullGrowth.columns) * across, 0, y,
                Double(growth.rows) - Double(fullGrowth.rows) * down))
    }
}

extension PixelSize {
    func grown(by growth: Extent) -> PixelSize {
        PixelSize(width: width + 2 * growth.columns, height: height + 2 * growth.rows)
    }
}
