import ArgumentParser
import Editing
import Editors
import Logging
import Worker

/// `minilab editors`.
struct EditorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "editors",
        abstract: "Shows the formats of adjustment data that can be read and written.",
        discussion: """
            jobs/EDITORS.md describes the handled part of each format. Settings of the environment apply, such as \
            MINILAB_EDITORS_TINT.

            Example:
              minilab editors
            """)

    @Flag(help: "Print JSON.") var json = false

    private struct Line: Encodable {
        let formatIdentifier: String
        let formatVersions: [String]
        let writtenVersion: String

        init(_ codec: any AdjustmentCodec) {
            formatIdentifier = codec.formatIdentifier
            formatVersions = codec.formatVersions
            writtenVersion = codec.writtenVersion
        }
    }

    func run() throws {
        var reader = SettingsReader(try SettingsSource())
        let settings = WorkerSettings(&reader)
        _ = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let lines = settings.editing.editors.all.map(Line.init)
        if json { return try printJSON(lines) }
        var table = TextTable(["format", "versions read", "written as"])
        for line in lines {
            table.add([
                line.formatIdentifier, line.formatVersions.joined(separator: ", "),
                line.writtenVersion,
            ])
        }
        print(block: table.text)
    }
}
