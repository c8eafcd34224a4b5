import ArgumentParser
import Edits
import Library
import Operations

struct SizesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sizes",
        abstract: "Shows the renditions of an asset: its other sizes.",
        discussion: """
            Prints those of the current version, by name. A job makes them beside its render, or later for a version \
            that is there; the same ones asked for again cost nothing:
              minilab enqueue IMG_0001.JPG --rendition web:box=2048x2048,format=avif
            A rendition has a path below the library that follows the current version, with undo too:
              edits/IMG_0001.JPG/current/sizes/web.avif

            Example:
              minilab sizes IMG_0001.JPG --library /srv/photos
              minilab sizes IMG_0001.JPG --version 2 --spec
            """)

    @Argument(help: "The asset: a photo's path below the originals.") var asset: String
    @Option(help: "A version's id or revision, or draft (default: the current one).")
    var version: String?
    @Flag(help: "Also print what was asked for.") var spec = false
    @OptionGroup var options: LibraryOptions
    @Flag(help: "Print JSON.") var json = false

    private struct Answer: Encodable {
        let asset: AssetPath
        let version: String?
        let renditions: [String: RenditionLines.Line]
        let gone: [String]
    }

    func run() async throws { try await options.withLibrary(run) }

    private func run(_ open: OpenLibrary) async throws {
        let (asset, library) = (try AssetPath(asset), open.library)
        let shown: Provenance?
        if let version {
            shown = try await library.version(version, of: asset)
        } else {
            let state = try await library.state(of: asset)
            if state == AssetState() { try await library.checkOriginal(of: asset) }
            shown = state.current
        }
        let found = try await RenditionLines(of: shown, asset, library)
        let list = found.list
        if json {
            return try printJSON(
                Answer(
                    asset: asset, version: shown?.version, renditions: found.lines,
                    gone: list.gone.keys.sorted()))
        }
        guard let shown, !list.isEmpty else {
            return print(
                "\(asset): " + (shown.map { "version \($0.version) has" } ?? "no edits, and so")
                    + " no renditions")
        }
        print("\(asset): version \(shown.version)")
        if !list.renditions.isEmpty { print(block: found.table.text) }
        if let gone = found.goneText { print(gone) }
        guard spec else { return }
        for name in list.names {
            if let rendition = list.renditions[name] {
                print("\(name): \(rendition.spec.canonical)")
            }
        }
    }
}

/// The renditions of a version, as commands print them.
struct RenditionLines {
    private(set) var list = SizeList()
    private(set) var lines: [String: Line] = [:]

    struct Line: Encodable {
        /// The location of its file.
        let path: String
        /// The length of the file that is there; nil if it is missing.
        let found: Int?
        let rendition: StoredRendition

        func encode(to encoder: any Encoder) throws {
            try rendition.encode(to: encoder)
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(path, forKey: .path)
        }

        private enum CodingKeys: String, CodingKey { case path }
    }

    init(
        of version: Provenance?, _ asset: AssetPath, _ library: any LibraryReader
    ) async throws(Failure) {
        guard let name = version.flatMap({ VersionName($0.version) }) else { return }
        list = try await library.sizes(of: name, asset)
        for (key, rendition) in list.renditions {
            let info = try await library.info(
                of: .rendition(asset, version: name, file: rendition.file))
            lines[key] = Line(path: info.location, found: info.bytes, rendition: rendition)
        }
    }

    var table: TextTable {
        var table = TextTable(
            ["name", "pixels", "bytes", "quality", "when", "sha256", "path"],
            rightAligned: [1, 2, 3])
        for name in list.names {
            guard let line = lines[name] else { continue }
            let (made, quality) = (line.rendition.made, line.rendition.quality)
            table.add([
                name, "\(made.size)", line.found == nil ? "missing" : "\(made.bytes)",
                quality.map { JSONValue.number($0).canonical } ?? "", line.rendition.at,
                made.sha256, line.path,
            ])
        }
        return table
    }

    /// The sentence about those that are gone; nil if there are none.
    var goneText: String? {
        guard !list.gone.isEmpty else { return nil }
        return "gone, and made again by a job with {\"mode\":\"renditions\",\"remake\":true}: "
            + list.gone.keys.sorted().joined(separator: ", ")
    }
}
