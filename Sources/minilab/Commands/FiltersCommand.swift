import Adjustments
import ArgumentParser
import FoundationEssentials

/// `minilab filters`.
struct FiltersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "filters",
        abstract: "Shows the filters that an edit can name, and their parameters.",
        discussion: """
            Example:
              minilab filters
              minilab filters CISepiaTone
            """)

    @Argument(help: "One filter, to see its parameters and the source of its mathematics.")
    var name: String?
    @Flag(help: "Print the JSON Schema of an edit's filters (jobs/filters.schema.json).")
    var schema = false
    @Flag(help: "Print all filters as a page of Markdown (jobs/FILTERS.md).") var page = false

    func validate() throws {
        guard [name != nil, schema, page].filter(\.self).count <= 1 else {
            throw ValidationError("NAME, --schema and --page exclude each other; give one of them.")
        }
    }

    func run() throws {
        if schema { return try printJSON(FilterSchema.json) }
        if page { return print(block: FilterPage.markdown, terminator: "") }
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
                table.add(["  " + filter.name, filter.fidelity.words, filter.summary])
            }
        }
        print(block: table.text)
    }
}
