import ArgumentParser
import Edits
import Files
import FoundationEssentials
import Glibc
import JobQueue
import Operations
import SystemPackage

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

    @Option(
        help: ArgumentHelp(
            "The edit as JSON (jobs/edit.schema.json) instead of --filter: a file, - for standard input, or the text itself.",
            valueName: "file|-|json"))
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
        guard let argument = edit else {
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
        let edit = try readEdit(argument)
        return Edit(
            edit.mode, output: try given(over: edit.output),
            renditions: try renditions.applied(to: edit.renditions), isDraft: edit.isDraft,
            remakes: edit.remakes, statesStrip: edit.statesStrip || output.strip != nil)
    }

    /// Returns an edit's own output settings, overridden by the flags; nil if neither sets any.
    private func given(over own: Recipe.Output?) throws -> Recipe.Output? {
        let given = try output.applied(to: own ?? Recipe.Output())
        return own == nil && given == Recipe.Output() ? nil : given
    }
}

/// Reads an edit that a flag gives: JSON text, or a file with it; `-` is standard input.
///
/// An argument that begins like an object, an array or a string of JSON is text, also where it is no edit: a file of such a name is given as
/// `./[…]`.
func readEdit(_ argument: String) throws -> Edit {
    if let first = argument.drop(while: \.isWhitespace).first, "{[\"".contains(first) {
        return try Edit(json: argument)
    }
    let name = argument == "-" ? "on standard input" : argument
    let bytes: [UInt8]
    do throws(Errno) {
        bytes =
            argument == "-"
            ? try SmallFile.bytes(
                of: OpenFile(adopting: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), name: name),
                atMost: ContractLimits.editBytesMax)
            : try SmallFile.bytes(argument, atMost: ContractLimits.editBytesMax)
    } catch {
        throw CommandError(
            "the edit \(name.debugDescription) cannot be read: \(error). Give a file with an edit, - for standard input, or the edit itself: "
                + #"{"filters":[…]}."#)
    }
    guard bytes.count <= ContractLimits.editBytesMax else {
        throw CommandError(
            "the edit \(name) has more than \(ContractLimits.editBytesMax) bytes, which is the most an edit may have."
        )
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
        throw CommandError("the edit \(name) is not UTF-8 text; expected JSON.")
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
            "That have this edit: as --edit of enqueue takes it, or the SHA-256 of its canonical JSON.",
            valueName: "file|-|json|sha"))
    var recipe: String?

    var isGiven: Bool { text(edit: recipe).isGiven }

    /// Returns the filter of a queue's dead jobs. How long ago counts by the clock of the queue's server, which the deaths have.
    func filter(of queue: QueueOptions) async throws -> DeadFilter {
        let edit = try recipe.map {
            try DeadFilterText.isDigest($0) ? $0 : readEdit($0).json.digest
        }
        let text = text(edit: edit)
        // A wrong selection is refused before a server is asked.
        let filter = try text.filter(.everything, now: .now) { "--\($0)" }
        guard text.isRelative else { return filter }
        let now = try await queue.withQueue { queue, _ in try await queue.now() }
        return try text.filter(
            .everything, now: Date(timeIntervalSince1970: Double(now) / 1000)
        ) { "--\($0)" }
    }

    private func text(edit: String?) -> DeadFilterText {
        var text = DeadFilterText()
        (text.batch, text.tenant, text.codes) = (batch, tenant, code)
        (text.since, text.until, text.edit) = (since, until, edit)
        return text
    }
}
