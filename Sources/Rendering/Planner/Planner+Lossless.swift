import Edits
import RenderProtocol

extension Planner {
    /// Returns the lane for a recipe that computes no pixels, if this photo has one.
    ///
    /// - Parameters:
    ///   - passes: none of which computes pixels.
    ///   - mayCopy: whether all contents of the file may be kept.
    ///   - obstacle: names the obstacle to a lossless geometry of a JPEG; nil if the photo is none.
    /// - Returns: the lane, or the reason against it for the plan's notes.
    static func losslessLane(
        _ passes: [Pass], _ recipe: Recipe, _ output: OutputPlan, for header: PhotoHeader,
        obstacle: ((Geometry?) -> String?)?, mayCopy: Bool
    ) -> (lane: RenderPlan.Lane?, note: String?) {
        guard header.format.rawValue == output.format.rawValue else { return (nil, nil) }
        guard recipe.output.isPlain(like: header) else {
            return (nil, "the photo is compressed again, as edit.output requires")
        }
        let geometry = geometry(of: passes)
        if geometry == nil, header.orientation == 1, output.strip == .none, mayCopy {
            return (.copy, nil)
        }
        guard let obstacle else { return (nil, nil) }
        if let reason = obstacle(geometry) {
            return (
                nil, "the photo cannot be cut or turned without being compressed again: \(reason)"
            )
        }
        return (.lossless, nil)
    }

    /// Returns all geometries of a plan that has nothing else, combined; nil for none.
    static func geometry(of passes: [Pass]) -> Geometry? {
        passes.reduce(nil) { whole, pass in
            guard case .geometry(let step) = pass else { return whole }
            return whole?.then(step) ?? step
        }
    }
}

extension Recipe.Output {
    /// Whether the original already satisfies it. The default quality does not count as a request.
    fileprivate func isPlain(like header: PhotoHeader) -> Bool {
        quality == Self.defaultQuality && chroma ?? header.chroma == header.chroma && !progressive
            && colorSpace == .source
            && bitDepth?.rawValue ?? header.bitsPerSample == header.bitsPerSample
            && compression == nil && background == nil
    }
}
