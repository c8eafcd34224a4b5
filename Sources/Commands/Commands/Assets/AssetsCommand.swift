import ArgumentParser
import Edits
import Library

struct AssetsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assets",
        abstract: "Lists the assets that have an edit.",
        discussion: """
            For readers that missed events: prints the revision, path and digest of the last event of each asset. \
            Paths are below the library.

            Example:
              minilab assets --library /srv/photos --json
            """)

    @OptionGroup var options: LibraryOptions
    @Flag(help: "Print one JSON object per line.") var json = false

    private struct Line: Encodable {
        let asset: AssetPath
        let revision: Int
        let version: String?
        let path: String
        let sha256: String?
        let draft: String?

        init(_ asset: AssetPath, in library: any LibraryReader) async throws {
            let state = try await library.state(of: asset)
            self.asset = asset
            revision = state.current?.revision ?? 0
            version = state.current?.version
            let shown = try state.current.map { try library.shownFile(of: $0, asset) }
            path = try await library.path(of: shown ?? .original(asset))
            sha256 = state.current?.content?.render.sha256
            draft = state.draft?.version
        }
    }

    func run() async throws { try await options.withLibrary(run) }

    private func run(_ open: OpenLibrary) async throws {
        var table = TextTable(["asset", "revision", "path", "sha256", "draft"], rightAligned: [1])
        defer { if !json { print(block: table.text) } }
        try await open.forEach([]) { asset in
            let line = try await Line(asset, in: open.library)
            if json { return try printJSON(line, pretty: false) }
            table.add([
                "\(asset)", "\(line.revision)", line.path, line.sha256 ?? "the original",
                line.draft ?? "",
            ])
        }
    }
}
