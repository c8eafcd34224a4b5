import ArgumentParser
import Edits
import Files
import Library
import Operations
import RenderProtocol
import SystemPackage
import Worker

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares two versions of an asset.",
        discussion: """
            Steps are marked - when they were removed, + when added, ~ when changed. The picture shows both versions \
            side by side, as readers see them.

            Example:
              minilab diff IMG_0001.JPG original 2 --library /srv/photos --picture both.jpg
            """)

    @Argument(help: "The asset: a photo's path below the originals.") var asset: String
    @Argument(help: "A version's id or revision, draft, or original.") var before: String
    @Argument(help: "The other.") var after: String
    @Option(help: "The JPEG file to write (default: PHOTO-diff.jpg in this folder).")
    var picture: String?
    @Option(help: "Longest side of each picture, in pixels.") var side = 512
    @OptionGroup var options: LibraryOptions
    @Flag(help: "Print JSON.") var json = false

    private struct Answer: Encodable {
        let before: String
        let after: String
        let comparison: RecipeComparison?
        let notes: [String]
        let picture: String
    }

    func validate() throws {
        try ContactSheetRequest.cellSideRange.check(side, "--side")
    }

    func run() async throws { try await options.withLibrary(run) }

    private func run(_ open: OpenLibrary) async throws {
        let asset = try AssetPath(asset)
        let found = try await VersionComparison(before, after, of: asset, in: open.library)
        let answer = Answer(
            before: found.before.label, after: found.after.label, comparison: found.comparison,
            notes: found.notes, picture: picture ?? beside(asset.string, "diff"))
        try await draw([found.before, found.after], to: answer.picture, open)
        if json { return try printJSON(answer) }
        print("\(answer.before) → \(answer.after)")
        for note in answer.notes { print(note) }
        if let comparison = answer.comparison {
            print(comparison.isSame ? "the edits are the same" : "steps:")
            for line in comparison.lines { print("  " + line) }
        }
        print("\(answer.picture): both side by side")
    }

    private func draw(
        _ sides: [VersionComparison.Side], to file: String, _ open: OpenLibrary
    ) async throws {
        var cells: [SheetCell] = []
        for side in sides {
            cells.append(
                SheetCell(source: try await open.library.open(side.file), label: side.label))
        }
        try await drawContactSheet(
            cells, across: cells.count, side: side, to: file, open.settings, open.logger)
    }
}
