import ArgumentParser
import Editing
import Editors
import Edits
import Library
import SystemPackage
import Worker

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes photos and edits as Apple's Photos takes them.",
        discussion: """
            IMG_1234.JPG is the original, IMG_E1234.JPG the render, IMG_1234.AAE the edit: imported together they are \
            one photo whose edit can be reverted. Photos with other names get free numbers. No file is \
            overwritten, and of each photo all files are written or none. With --renditions, the rendition web is \
            IMG_E1234-web.AVIF; Photos imports it as a photo of its own.

            Example:
              minilab export IMG_0001.JPG IMG_0002.JPG --to ~/export --library /srv/photos
            """)

    @Argument(help: "Assets: paths below the originals.") var assets: [String]
    @Option(help: "The folder to write to; it is made if it is missing.") var to: String
    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "Write the edit in this format, such as com.apple.photo (default: as it is).",
            valueName: "format-identifier"))
    var format: String?
    @Option(help: "A version's id or revision, or draft (default: the current one); of one asset.")
    var version: String?
    @Flag(help: "Also write the renditions of the version, beside its render.")
    var renditions = false
    @OptionGroup var options: LibraryOptions
    @Flag(help: "Print one JSON object per photo.") var json = false

    func validate() throws {
        guard version == nil || assets.count == 1 else {
            throw ValidationError("--version is of one asset; \(assets.count) are given.")
        }
    }

    func run() async throws { try await options.withLibrary(run) }

    private func run(_ open: OpenLibrary) async throws {
        let codec = try format.map { try known($0, open.settings.editing.editors) }
        var photos: [ExportedPhoto] = []
        try await open.forEach(assets) { asset in
            photos.append(
                try await open.library.export(
                    version(of: asset, open.library), of: asset, as: codec,
                    withRenditions: renditions))
        }
        let (finished, reports) = try await Exporter(open.library, to: FilePath(to).absolute)
            .export(photos)
        if !finished.isEmpty, !json {
            print("finished an interrupted export: \(finished.joined(separator: ", "))")
        }
        for report in reports {
            if json {
                try printJSON(report, pretty: false)
            } else {
                print(
                    "\(report.asset): \(report.files.joined(separator: ", "))"
                        + report.notes.map { "; " + $0 }.joined())
            }
        }
    }

    private func version(of asset: AssetPath, _ library: any LibraryReader) async throws
        -> Provenance?
    {
        if let version { return try await library.version(version, of: asset) }
        return try await library.state(of: asset).current
    }

    private func known(
        _ identifier: String, _ editors: EditorRegistry
    ) throws(Failure) -> any AdjustmentCodec {
        guard let codec = editors.codec(of: identifier) else {
            throw Failure(
                .adjustmentDataNotEncodable,
                "no editor here writes \(identifier.debugDescription); known: "
                    + editors.all.map(\.formatIdentifier).joined(separator: ", ") + ".")
        }
        return codec
    }
}
