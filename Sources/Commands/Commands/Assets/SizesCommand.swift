import ArgumentParser
import Edits
import Library
import Operations

struct SizesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sizes",
        abstract: "Shows the renditions of an asset: its pictures in other sizes and formats.",
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
        let renditions: [String: Line]
    }

    private struct Line: Encodable {
        let path: String
        let rendition: StoredRendition

        func encode(to encoder: any Encoder) throws {
            try rendition.encode(to: encoder)
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(path, forKey: .path)
        }

        private enum CodingKeys: String, CodingKey { case path }
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
        var list = SizeList()
        var lines: [String: Line] = [:]
        if let name = shown.flatMap({ VersionName($0.version) }) {
            list = try await library.sizes(of: name, asset)
            for (key, rendition) in list.renditions {
                let file = StoredFile.rendition(asset, version: name, file: rendition.file)
                lines[key] = Line(
                    path: try await library.info(of: file).location, rendition: rendition)
            }
        }
        if json {
            return try printJSON(
                Answer(asset: asset, version: shown?.version, renditions: lines))
        }
        guard let shown, !list.isEmpty else {
            return print(
                "\(asset): " + (shown.map { "version \($0.version) has" } ?? "no edits, and so")
                    + " no renditions")
        }
        print("\(asset): version \(shown.version)")
        var table = TextTable(
            ["name", "pixels", "bytes", "quality", "when", "sha256", "path"],
            rightAligned: [1, 2, 3])
        for name in list.names {
            guard let line = lines[name] else { continue }
            let (made, quality) = (line.rendition.made, line.rendition.quality)
            table.add([
                name, "\(made.size)", "\(made.bytes)",
                quality.map { JSONValue.number($0).canonical } ?? "", line.rendition.at,
                made.sha256, line.path,
            ])
        }
        print(block: table.text)
        guard spec else { return }
        for name in list.names {
            if let rendition = list.renditions[name] {
                print("\(name): \(rendition.spec.canonical)")
            }
        }
    }
}
