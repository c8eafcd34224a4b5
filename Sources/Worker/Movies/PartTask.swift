import Adjustments
import FoundationEssentials
import Library

/// The task of a worker that renders a part of another job's movie.
///
/// It says from what the part is made and what it is for; whoever renders it finds out by itself whether that is so.
struct PartTask: Sendable, Codable, Equatable {
    /// The asset whose original is rendered.
    let asset: String
    /// As the job's edit says it: it is resolved anew, which comes to the same.
    let recipe: Recipe
    /// Of the whole movie, in hex: a part is kept only if its own maker comes to this key.
    let key: String

    /// As text: the same task is the same text.
    var text: String {
        JSONValue.object([
            "asset": .string(asset), "recipe": recipe.json, "key": .string(key),
        ]).canonical
    }

    init(asset: AssetPath, recipe: Recipe, key: RenderKey) {
        (self.asset, self.recipe, self.key) = (asset.string, recipe, key.hex)
    }

    /// Reads the text of a task.
    ///
    /// - Throws: `malformedJSON` when it is none: a worker of another version wrote it.
    init(_ text: String) throws(Failure) {
        do {
            self = try JSONDecoder().decode(PartTask.self, from: Data(text.utf8))
        } catch {
            throw Failure(
                .malformedJSON,
                "the task of a movie's part cannot be read: \(error). The worker that has the movie renders the part "
                    + "itself.")
        }
    }
}
