import ArgumentParser
import Editors
import Logging
import Worker

/// `minilab editors`.
struct EditorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "editors",
        abstract: "Shows whose edits can be read and written: the formats of adjustment data.",
        discussion: """
            What is handled of each format is in jobs/EDITORS.md. Settings of the environment count, such as \
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
        let lines = settings.editors.all.map(Line.init)
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
