import Edits
import PhotoFiles

extension Planner {
    /// Returns the outcome for the gain map.
    ///
    /// - Parameters:
    ///   - isCopied: whether the file is copied unchanged.
    /// - Returns: nil for a photo without a gain map.
    /// - Throws: `hdrNotKept`.
    static func gainMap(
        of recipe: Recipe, _ companions: PhotoCompanions, _ passes: [Pass],
        as format: Recipe.Format,
        isCopied: Bool, name: String
    ) throws(Failure) -> GainMapOutcome? {
        let outcome: GainMapOutcome
        if let map = companions.map {
            outcome =
                isCopied
                ? .carried
                : decided(
                    GainMapRules.outcome(
                        of: recipe.filters, channels: map.components, as: format,
                        recipe.output.hdr), passes)
        } else if let obstacle = companions.obstacle {
            outcome = isCopied ? .carried : .dropped(reason: obstacle)
        } else {
            return nil
        }
        if case .dropped(let reason) = outcome, recipe.output.hdr == .require {
            throw Failure(
                .hdrNotKept,
                "The gain map of \(name), which makes it HDR, would be left out: \(reason). edit.output.hdr is require; ask for "
                    + "jpeg or heic and leave such filters out, or send keep.")
        }
        return outcome
    }

    /// Replaces the outcome if a filter enlarges the picture: the passes then have no single geometry.
    private static func decided(_ outcome: GainMapOutcome, _ passes: [Pass]) -> GainMapOutcome {
        guard outcome == .kept || outcome == .carried else { return outcome }
        for case .neighbourhood(let filter, let working) in passes where working.growth != .none {
            return .dropped(reason: "\(filter.name) makes the picture larger")
        }
        return outcome
    }
}
