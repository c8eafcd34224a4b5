package import Edits
import FoundationEssentials
import Library

/// The task of a worker that renders a part of another job's movie.
///
/// It names the input and the purpose of the part. The worker that renders it verifies both by itself.
package struct PartTask: Sendable, Codable, Equatable {
    /// The asset whose original is rendered.
    let asset: String
    /// The recipe of the job's edit. The worker resolves it again, with the same result.
    let recipe: Recipe
    /// The render key of the whole movie, in hex. A worker stores a part only if it computes the same key.
    let key: String

    /// The task as text. Equal tasks have equal texts.
    var text: String {
        JSONValue.object([
            "asset": .string(asset), "recipe": recipe.json, "key": .string(key),
        ]).canonical
    }

    init(asset: AssetPath, recipe: Recipe, key: RenderKey) {
        (self.asset, self.recipe, self.key) = (asset.string, recipe, key.hex)
    }

    /// Parses the text of a task.
    ///
    /// - Throws: `malformedJSON` if it is invalid, for example because a worker of another version wrote it.
    package init(_ text: String) throws(Failure) {
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
