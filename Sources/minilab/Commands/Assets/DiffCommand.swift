import Adjustments
import ArgumentParser
import Files
import Library
import RenderProtocol
import SystemPackage
import Worker

/// `minilab diff`.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares two versions of an asset: their steps, and a picture of both.",
        discussion: """
            Steps have - when they were removed, + when added, ~ when changed. The picture shows both versions \
            side by side, as readers see them.

            Example:
              minilab diff IMG_0001.JPG original 2 --library /srv/photos --picture before-after.jpg
            """)

    @Argument(help: "The asset: a photo's path below the originals.") var asset: String
    @Argument(help: "A version's id or revision, draft, or original.") var before: String
    @Argument(help: "The other.") var after: String
    @Option(help: "The JPEG file to write (default: PHOTO-diff.jpg in this folder).")
    var picture: String?
    @Option(help: "Longest side of each picture, in pixels.") var side = 512
    @OptionGroup var options: LibraryOptions
    @Flag(help: "Print JSON.") var json = false

    /// One of the two.
    private struct Side {
        let label: String
        let file: OpenFile
        /// nil when no editor here can read the edit.
        let recipe: Recipe?
        /// What the edit was made on: the digest of a base, nil for the original.
        let base: String?
    }

    private struct Answer: Encodable {
        let before: String
        let after: String
        let comparison: RecipeComparison?
        let notes: [String]
        let picture: String
    }

    func validate() throws {
        let range = ContactSheetRequest.cellSideRange
        guard range.contains(side) else {
            throw ValidationError(
                "--side is \(side); expected \(range.lowerBound) to \(range.upperBound).")
        }
    }

    func run() async throws { try await options.withLibrary(run) }

    private func run(_ open: OpenLibrary) async throws {
        let asset = try AssetPath(asset)
        let sides = [
            try await find(before, asset, open.library), try await find(after, asset, open.library),
        ]
        let answer = Answer(
            before: sides[0].label, after: sides[1].label, comparison: compare(sides[0], sides[1]),
            notes: notes(sides[0], sides[1]), picture: picture ?? beside(asset.string, "diff"))
        try await draw(sides, to: answer.picture, open)
        if json { return try printJSON(answer) }
        print("\(answer.before) → \(answer.after)")
        for note in answer.notes { print(note) }
        if let comparison = answer.comparison {
            print(comparison.isSame ? "the edits are the same" : "steps:")
            for line in comparison.words { print("  " + line) }
        }
        print("\(answer.picture): both side by side")
    }

    private func find(
        _ text: String, _ asset: AssetPath, _ library: any LibraryStore
    ) async throws -> Side {
        let unedited = try Recipe(filters: [])
        guard text != "original" else {
            return Side(
                label: "original", file: try await library.open(.original(asset)), recipe: unedited,
                base: nil)
        }
        let version = try await library.version(text, of: asset)
        guard let content = version.content else {
            return Side(
                label: "\(version.version) (the original)",
                file: try await library.open(.original(asset)),
                recipe: unedited, base: nil)
        }
        return Side(
            label: version.version,
            file: try await library.open(library.shownFile(of: version, asset)),
            recipe: content.recipe, base: content.base?.input.sha256)
    }

    private func compare(_ before: Side, _ after: Side) -> RecipeComparison? {
        guard let old = before.recipe, let new = after.recipe else { return nil }
        return RecipeComparison(from: old, to: new)
    }

    private func notes(_ before: Side, _ after: Side) -> [String] {
        let unread = [before, after].filter { $0.recipe == nil }.map {
            "no editor here reads the edit of \($0.label); see minilab show"
        }
        return unread
            + (before.base == after.base
                ? []
                : ["the two were not made on the same photo: one has a base, or another base"])
    }

    private func draw(_ sides: [Side], to file: String, _ open: OpenLibrary) async throws {
        let cells = sides.map {
            SheetCell(source: $0.file, label: $0.label)
        }
        try await drawContactSheet(
            cells, across: cells.count, side: side, to: file, open.settings, open.logger)
    }
}
