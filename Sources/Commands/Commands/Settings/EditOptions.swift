import Edits
import ArgumentParser
import FoundationEssentials

/// The flags that describe an edit of a photo.
struct EditOptions: ParsableArguments {
    @Option(
        name: .customLong("filter"), parsing: .singleValue,
        help: ArgumentHelp(
            "A filter, such as CISepiaTone:inputIntensity=0.8; several in order.",
            valueName: "name:key=value,…"))
    var filters: [String] = []

    @Option(help: "A JSON file with the edit (jobs/edit.schema.json), instead of --filter.")
    var edit: String?

    @Option(Settings.resources) var resources: FlagValue?

    @OptionGroup var output: OutputOptions

    /// The settings that the flags set.
    var flagValues: [FlagValue] { FlagValue.all(in: self) }

    /// Returns whether any flag that makes an edit is set.
    func isGiven() throws -> Bool {
        try edit != nil || !filters.isEmpty || given(over: nil) != nil
    }

    /// Returns the recipe that the flags describe, for commands that render a file.
    func recipe() throws -> Recipe {
        let edit = try request()
        guard case .replace(let steps) = edit.mode else {
            throw ValidationError(
                "--edit has mode \(edit.mode.name.rawValue), which needs an asset with a history; "
                    + "send it with minilab enqueue or minilab run.")
        }
        return try Recipe(
            filters: steps.filters, referenceSize: steps.referenceSize,
            output: edit.output ?? Recipe.Output())
    }

    /// Returns the edit that the flags describe, of any mode.
    func request() throws -> Edit {
        guard let file = edit else {
            return Edit(
                .replace(
                    Edit.Steps(try filters.map { try Filter(text: $0, at: "--filter \($0)") })),
                output: try given(over: nil))
        }
        guard filters.isEmpty else {
            throw ValidationError("--edit and --filter exclude each other; give one of them.")
        }
        let edit = try readEdit(file)
        return Edit(edit.mode, output: try given(over: edit.output), isDraft: edit.isDraft)
    }

    /// Returns an edit's own output settings, overridden by the flags; nil if neither sets any.
    private func given(over own: Recipe.Output?) throws -> Recipe.Output? {
        let given = try output.applied(to: own ?? Recipe.Output())
        return own == nil && given == Recipe.Output() ? nil : given
    }
}

/// Reads an edit from a file.
func readEdit(_ file: String) throws -> Edit {
    let text: String
    do {
        text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
        throw ValidationError("the edit \(file) cannot be read: \(error)")
    }
    return try Edit(json: text)
}
