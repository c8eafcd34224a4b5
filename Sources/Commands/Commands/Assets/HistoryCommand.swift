import ArgumentParser
import Edits
import Library
import Operations

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows the versions of an asset, newest first.",
        discussion: """
            Each change is a version, undo and redo too. Marks show the version that readers see, the draft, and \
            the targets of undo and redo.

            Example:
              minilab history IMG_0001.JPG --library /srv/photos
            """)

    @Argument(help: "The asset: a photo's path below the originals.") var asset: String
    @OptionGroup var options: LibraryOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws { try await options.withLibrary(run) }

    private func run(_ open: OpenLibrary) async throws {
        let history = try await open.library.versions(of: AssetPath(asset))
        if json { return try printJSON(history) }
        guard !history.entries.isEmpty else {
            return print("\(asset) has no edits: readers see the original")
        }
        var table = TextTable(
            ["version", "", "what", "when", "job", "worker", "engine", "bytes"], rightAligned: [7])
        for entry in history.entries {
            let version = entry.version
            table.add([
                version.version, entry.marks.map(\.rawValue).joined(separator: ", "),
                version.mode.rawValue, version.author.at, version.author.job, version.author.worker,
                version.engineText, version.content.map { "\($0.render.bytes)" } ?? "",
            ])
        }
        print(block: table.text)
        print("undo: \(history.undo.text)")
        print("redo: \(history.redo.text)")
    }
}
