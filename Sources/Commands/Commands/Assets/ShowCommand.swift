import ArgumentParser
import Editors
import Edits
import Library
import Operations

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows an asset's layers, and the steps of its edit.",
        discussion: """
            Prints the files of all layers, the job that made the version, and the steps of the edit as an amendment \
            names them: by place from 0, parameters by name, in pixels. An edit with relative values is printed as it \
            was sent, too. Renditions of the version have a table of their own.

            Example:
              minilab show IMG_0001.JPG --library /srv/photos
              minilab show IMG_0001.JPG --version 2
            """)

    @Argument(help: "The asset: a photo's path below the originals.") var asset: String
    @Option(help: "A version's id or revision, or draft (default: the current one).")
    var version: String?
    @OptionGroup var options: LibraryOptions
    @Flag(help: "Print JSON.") var json = false

    private struct Answer: Encodable {
        let asset: AssetPath
        let isCurrent: Bool
        let provenance: Provenance?
        let draft: String?
        let layers: [Layer]
        /// By name; nil if the version has none.
        let renditions: [String: RenditionLines.Line]?
        /// The names of those that are gone and can be made again; nil if there are none.
        let gone: [String]?
    }

    func run() async throws { try await options.withLibrary(run) }

    private func run(_ open: OpenLibrary) async throws {
        let asset = try AssetPath(asset)
        let state = try await open.library.state(of: asset)
        if state == AssetState() { try await open.library.checkOriginal(of: asset) }
        var shown = state.current
        if let version { shown = try await open.library.version(version, of: asset) }
        let found = try await RenditionLines(of: shown, asset, open.library)
        let answer = Answer(
            asset: asset, isCurrent: shown == state.current, provenance: shown,
            draft: state.draft?.version,
            layers: try await open.library.layers(of: shown, draft: state.draft, asset),
            renditions: found.lines.isEmpty ? nil : found.lines,
            gone: found.list.gone.isEmpty ? nil : found.list.gone.keys.sorted())
        if json { return try printJSON(answer) }
        for line in heading(answer) { print(line) }
        print(block: table(answer.layers).text)
        if !found.lines.isEmpty { print(block: found.table.text) }
        if let gone = found.goneText { print(gone) }
        guard let content = shown?.content else { return }
        print(
            "adjustment data: \(content.adjustment.formatIdentifier) \(content.adjustment.formatVersion)"
        )
        if let opened = content.opened { print("the edit before it: \(opened.text)") }
        if let reused = content.reusedFrom {
            print("the same photo and edit as \(reused), so that is its render")
        }
        if let copied = content.copiedFrom { print("copied from \(copied)") }
        guard let recipe = content.recipe else {
            return print(
                "the edit: no editor here reads it; an edit that replaces is made on top of it")
        }
        if let sent = content.sent {
            print("the edit as it was sent, which a copy of it applies:")
            for line in sent.lines { print("  " + line) }
            print("the edit in pixels of this photo:")
        }
        for line in recipe.lines { print(line) }
    }

    private func heading(_ answer: Answer) -> [String] {
        guard let version = answer.provenance else {
            return ["\(answer.asset): no edits; readers see the original"]
        }
        let mark = answer.isCurrent ? "current" : version.isDraft ? "draft" : "not current"
        let author = version.author
        return [
            "\(answer.asset): version \(version.version), \(mark)",
            "\(version.mode.rawValue) at \(author.at) by job \(author.job), attempt \(author.attempt), on "
                + "\(author.worker)",
            "rendered by \(version.engineText)"
                + (version.content?.rendering.map { " at \($0.at)" } ?? ""),
        ]
    }

    private func table(_ layers: [Layer]) -> TextTable {
        TextTable(
            ["layer", "bytes", "sha256", "path"], rightAligned: [1],
            layers.map {
                [
                    $0.kind.rawValue, $0.bytes.map { "\($0)" } ?? "missing", $0.sha256 ?? "",
                    $0.path,
                ]
            })
    }
}

extension Content.Opened {
    /// The recorded result of opening the adjustment data.
    fileprivate var text: String {
        let layer = input == .original ? "the original" : "the \(input.rawValue) layer"
        return "\(formatIdentifier) \(formatVersion) "
            + (canHandle
                ? "could be read, so this one was made on \(layer)"
                : "could not be read, so this one was made on \(layer): \(reason ?? "no reason")")
    }
}
