import ArgumentParser
import Edits
import FoundationEssentials
import JobQueue
import Operations

struct EditOptions: ParsableArguments {
    @Option(
        name: .customLong("filter"), parsing: .singleValue,
        help: ArgumentHelp(
            "A filter, such as CISepiaTone:inputIntensity=0.8; several in order.",
            valueName: "name:key=value,…"))
    var filters: [String] = []

    @Option(
        help: """
            What lengths and places of --filter count: pixels (the default), or relative, which are parts of the picture.
            """)
    var units: Units?

    @Option(help: "A JSON file with the edit (jobs/edit.schema.json), instead of --filter.")
    var edit: String?

    @Option(Settings.resources) var resources: FlagValue?

    @OptionGroup var output: OutputOptions

    @OptionGroup var renditions: RenditionOptions

    var flagValues: [FlagValue] { FlagValue.all(in: self) }

    func isGiven() throws -> Bool {
        try edit != nil || !filters.isEmpty || renditions.isGiven || given(over: nil) != nil
    }

    /// Returns the recipe that the flags describe, for commands that render a file.
    func recipe() throws -> Recipe {
        let (recipe, renditions) = try planned()
        guard renditions.isEmpty else {
            throw ValidationError(
                "renditions are kept beside the version of an asset, and this command writes one file; send them with "
                    + "minilab enqueue or minilab run, or look at them with minilab plan.")
        }
        return recipe
    }

    /// Returns the recipe and the renditions that the flags describe, for a photo without a history.
    func planned() throws -> (recipe: Recipe, renditions: Renditions) {
        let edit = try request()
        guard case .replace(let steps) = edit.mode else {
            throw ValidationError(
                "--edit has mode \(edit.mode.name.rawValue), which needs an asset with a history; "
                    + "send it with minilab enqueue or minilab run.")
        }
        let recipe = try Recipe(
            filters: steps.filters, referenceSize: steps.referenceSize,
            output: edit.output ?? Recipe.Output())
        return (recipe, edit.renditions)
    }

    /// Returns the edit that the flags describe, of any mode.
    func request() throws -> Edit {
        guard let file = edit else {
            return Edit(
                .replace(
                    Edit.Steps(
                        try filters.map {
                            try Filter(text: $0, in: units ?? .pixels, at: "--filter \($0)")
                        })),
                output: try given(over: nil), renditions: try renditions.applied(to: Renditions()))
        }
        guard filters.isEmpty else {
            throw ValidationError("--edit and --filter exclude each other; give one of them.")
        }
        guard units == nil else {
            throw ValidationError("--units is for --filter; an edit says its units itself.")
        }
        let edit = try readEdit(file)
        return Edit(
            edit.mode, output: try given(over: edit.output),
            renditions: try renditions.applied(to: edit.renditions), isDraft: edit.isDraft,
            remakes: edit.remakes)
    }

    /// Returns an edit's own output settings, overridden by the flags; nil if neither sets any.
    private func given(over own: Recipe.Output?) throws -> Recipe.Output? {
        let given = try output.applied(to: own ?? Recipe.Output())
        return own == nil && given == Recipe.Output() ? nil : given
    }
}

func readEdit(_ file: String) throws -> Edit {
    let text: String
    do {
        text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
        throw ValidationError("the edit \(file) cannot be read: \(error)")
    }
    return try Edit(json: text)
}

/// The flags that select dead jobs. Several flags select the jobs that match all of them.
struct DeadFilterOptions: ParsableArguments {
    @Option(help: "Of this batch.") var batch: String?

    @Option(help: "Of this tenant.") var tenant: String?

    @Option(
        parsing: .singleValue,
        help: "That died of this code, such as renderCrashed; may be given again.")
    var code: [String] = []

    @Option(
        help: ArgumentHelp(
            "That died at this time or later: 2026-11-21T06:00:00Z, or how long ago: 30m, 2h, 3d.",
            valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("That died at this time or before.", valueName: "time"))
    var until: String?

    @Option(
        help: ArgumentHelp(
            "That have this edit: a file, or the SHA-256 of its canonical JSON.",
            valueName: "file|sha"))
    var recipe: String?

    var isGiven: Bool { text(edit: recipe).isGiven }

    func filter() throws -> DeadFilter {
        let edit = try recipe.map {
            try DeadFilterText.isDigest($0) ? $0 : readEdit($0).json.digest
        }
        return try text(edit: edit).filter(.everything, now: .now) { "--\($0)" }
    }

    private func text(edit: String?) -> DeadFilterText {
        var text = DeadFilterText()
        (text.batch, text.tenant, text.codes) = (batch, tenant, code)
        (text.since, text.until, text.edit) = (since, until, edit)
        return text
    }
}
