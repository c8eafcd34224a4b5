import Edits
import ArgumentParser
import FoundationEssentials
import JobQueue
import Operations

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
