import Adjustments
import ArgumentParser
import FoundationEssentials

/// The flags that say what to do with a photo.
struct EditOptions: ParsableArguments {
    @Option(
        name: .customLong("filter"), parsing: .singleValue,
        help: ArgumentHelp(
            "A filter, such as CISepiaTone:inputIntensity=0.8; several in order.",
            valueName: "name:key=value,…"))
    var filters: [String] = []

    @Option(help: "A JSON file with the edit (jobs/edit.schema.json), instead of --filter.")
    var edit: String?

    @Option(help: "The folder of files that the edit names by digest: masks, watermarks, tables.")
    var resources: String?

    @OptionGroup var output: OutputOptions

    /// The recipe that the flags make.
    func recipe() throws -> Recipe {
        if let edit {
            guard filters.isEmpty else {
                throw ValidationError("--edit and --filter exclude each other; give one of them.")
            }
            let text: String
            do {
                text = try String(contentsOfFile: edit, encoding: .utf8)
            } catch {
                throw ValidationError("the edit \(edit) cannot be read: \(error)")
            }
            let recipe = try Recipe(json: text)
            return try Recipe(
                filters: recipe.filters, referenceSize: recipe.referenceSize,
                output: output.applied(to: recipe.output))
        }
        return try Recipe(
            filters: filters.map { try Filter(text: $0, at: "--filter \($0)") },
            output: output.applied(to: Recipe.Output()))
    }
}
