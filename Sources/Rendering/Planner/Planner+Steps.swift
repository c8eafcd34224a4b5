import Adjustments
import RenderProtocol

extension Planner {
    /// Makes the working form of each filter, in the recipe's order; filters that change nothing are left
    /// out.
    ///
    /// - Parameter size: of the upright photo.
    /// - Returns: a pass for each filter, and the size of the result.
    static func steps(
        of recipe: Recipe, on size: PixelSize, pixelsMax: Int,
        _ resource: @escaping @Sendable (String) throws(Failure) -> String
    ) throws(Failure) -> ([Pass], size: PixelSize) {
        var size = size
        var steps: [Pass] = []
        for filter in recipe.filters where !filter.changesNothing {
            let context = FilterContext(size: size, resource: resource) {
                digest, fit throws(Failure) in
                try ResourcePicture(at: resource(digest), fit)
            }
            switch filter.definition.kernel {
            case .pixel(let make):
                steps.append(
                    .pixels([Pass.Pixel(filter: filter, working: try make(filter, context))]))
            case .neighbourhood(let make):
                let working = try make(filter, context)
                size = PixelSize(
                    width: size.width + 2 * working.growth.columns,
                    height: size.height + 2 * working.growth.rows)
                try check(size, of: filter, pixelsMax: pixelsMax)
                steps.append(.neighbourhood(filter, working))
            case .geometry(let make):
                let geometry = try make(filter, context)
                try check(geometry.size, of: filter, pixelsMax: pixelsMax)
                guard !geometry.visible.isEmpty else {
                    throw Failure(
                        .invalidValue,
                        "\(filter) leaves nothing of the picture, which has \(size) pixels there.")
                }
                steps.append(.geometry(geometry))
                size = geometry.size
            case .generator, .automatic:
                preconditionFailure("\(filter.name) is no step, or was not resolved")
            }
        }
        return (steps, size)
    }

    private static func check(_ size: PixelSize, of filter: Filter, pixelsMax: Int)
        throws(Failure)
    {
        guard size.pixels <= pixelsMax else {
            throw Failure(
                .tooManyPixels,
                "\(filter) makes a picture of \(size) pixels; at most \(pixelsMax) pixels are allowed. Scale "
                    + "less, or raise the worker's limit.")
        }
    }
}
