import Edits
import RenderProtocol

extension Planner {
    /// Makes the executable form of each filter, in the recipe's order. Filters that change nothing are omitted.
    ///
    /// - Parameter size: the size of the upright photo.
    /// - Returns: a pass for each filter, and the size of the result.
    static func steps(
        of recipe: Recipe, on size: PixelSize, limits: RenderLimits,
        _ resources: Resources
    ) throws(Failure) -> ([Pass], size: PixelSize) {
        var size = size
        var steps: [Pass] = []
        try limits.check(.filters, recipe.filters.reduce(0) { $0 + $1.count }, of: "The recipe")
        for filter in recipe.filters where !filter.changesNothing {
            let context = FilterContext(size: size, resource: resources.bytes) {
                digest, fit throws(Failure) in
                try ResourcePicture(resources.file(digest), fit)
            }
            switch filter.definition.kernel {
            case .pixel(let make):
                steps.append(
                    .pixels([Pass.Pixel(filters: [filter], working: try make(filter, context))]))
            case .neighbourhood(let make):
                let working = try make(filter, context)
                size = PixelSize(
                    width: size.width + 2 * working.growth.columns,
                    height: size.height + 2 * working.growth.rows)
                try limits.check(
                    .radius, max(working.reach.columns, working.reach.rows), of: "\(filter)")
                try check(size, of: filter, limits)
                steps.append(.neighbourhood(filter, working))
            case .geometry(let make):
                let geometry = try make(filter, context)
                try check(geometry.size, of: filter, limits)
                guard !geometry.visible.isEmpty else {
                    throw Failure(
                        .invalidValue,
                        "\(filter) leaves an empty picture; its input has \(size) pixels.")
                }
                steps.append(.geometry(geometry))
                size = geometry.size
            case .generator, .automatic:
                preconditionFailure("\(filter.name) is no step, or was not resolved")
            }
        }
        return (steps, size)
    }

    private static func check(_ size: PixelSize, of filter: Filter, _ limits: RenderLimits)
        throws(Failure)
    {
        guard size.pixels <= limits.pixelsMax else {
            throw Failure(
                .tooManyPixels,
                "\(filter) makes a picture of \(size) pixels; render.pixels allows \(limits.pixelsMax). "
                    + "Scale less, or raise --render-pixels.")
        }
        try limits.check(.side, max(size.width, size.height), of: "What \(filter) makes")
    }
}
