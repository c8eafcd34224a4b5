import ArgumentParser
import Editing
import Editors
import Edits
import FoundationEssentials
import Logging
import Worker

struct FiltersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filters",
        abstract: "Shows the filters of edits, and their parameters.",
        discussion: """
            Example:
              minilab filters
              minilab filters CISepiaTone
            """)

    @Argument(help: "One filter, to see its parameters and the source of its mathematics.")
    var name: String?
    @Flag(help: "Print the JSON Schema of an edit's filters (jobs/filters.schema.json).")
    var schema = false
    @Flag(
        help: """
            Print that of filters with relative units (jobs/filters.relative.schema.json).
            """)
    var relativeSchema = false
    @Option(
        help: ArgumentHelp(
            "Print all filters as a page of Markdown (jobs/FILTERS.md), with these examples.",
            valueName: "examples"))
    var page: String?

    func validate() throws {
        guard [name != nil, schema, relativeSchema, page != nil].filter(\.self).count <= 1 else {
            throw ValidationError(
                "NAME, --schema, --relative-schema and --page exclude each other; give one of them."
            )
        }
    }

    func run() throws {
        if schema { return try printJSON(FilterSchema.json(in: .pixels)) }
        if relativeSchema { return try printJSON(FilterSchema.json(in: .relative)) }
        if let page {
            return print(block: try Self.page(with: page), terminator: "")
        }
        if let name {
            return print(
                block: FilterPage.text(of: try FilterCatalogue.known(name, at: "filters NAME")))
        }
        var table = TextTable(["filter", "fidelity", "effect"])
        for category in FilterDefinition.Category.allCases {
            let filters = FilterCatalogue.all.filter { $0.category == category }
            if !filters.isEmpty { table.add(["", "", ""]) }
            if !filters.isEmpty { table.add([category.rawValue + ":", "", ""]) }
            for filter in filters {
                table.add(["  " + filter.name, filter.fidelity.label, filter.summary])
            }
        }
        print(block: table.text)
    }

    private static func page(with examples: String) throws -> String {
        try FilterPage.markdown(examples: readText(examples, as: "the examples"))
    }
}

struct EditorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "editors",
        abstract: "Shows the formats of adjustment data.",
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
