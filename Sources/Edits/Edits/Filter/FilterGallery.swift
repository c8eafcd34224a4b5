/// The gallery of `jobs/FILTERS.md`: a picture of each filter, and the parameters that it was given there.
///
/// The pictures are in `jobs/filters`; `ops/lib/generate/filter-pictures` renders them from the examples.
struct FilterGallery {
    /// An edit's filters by the name of the filter that they show.
    private let examples: [String: JSONValue]

    private static let across = 4
    /// A value that is longer, such as a table, is left out of a caption.
    private static let valueLengthMax = 20

    /// - Parameter json: the text of `jobs/filters/examples.json`.
    /// - Throws: `malformedJSON`, or `invalidValue` when it is no object.
    init(json: String) throws(Failure) {
        let value = try JSONValue(parsing: json, as: "the file of examples")
        guard case .object(let examples) = value else {
            throw Failure(
                .invalidValue,
                "the file of examples is \(value.kind); expected an object with an edit's filters for each "
                    + "name of a filter.")
        }
        self.examples = examples
    }

    /// A table of HTML, which also takes rows without a head.
    func html(of filters: [FilterDefinition], in category: FilterDefinition.Category) -> [String] {
        var cells = [cell("original", "<i>the original</i>")]
        if category == .local {
            cells.append(cell("hues", "<i>the picture that is laid on it</i>"))
        }
        for filter in filters {
            let link = "<a href=\"#\(Self.anchor(of: filter.name))\">\(filter.name)</a>"
            let given = caption(of: filter)
            let file = String(filter.name.map { $0 == ":" ? "-" : $0 })
            cells.append(cell(file, link + (given.isEmpty ? "" : "<br><sub>\(given)</sub>")))
        }
        var lines = ["<table>"]
        for start in stride(from: 0, to: cells.count, by: Self.across) {
            lines.append("<tr>")
            lines += cells[start..<min(start + Self.across, cells.count)]
            lines.append("</tr>")
        }
        return lines + ["</table>"]
    }

    private func cell(_ file: String, _ caption: String) -> String {
        "<td align=\"center\" width=\"25%\"><img src=\"filters/\(file).jpg\" alt=\"\"><br>\(caption)</td>"
    }

    /// The parameters that the example gives the filter, in the definition's order.
    private func caption(of filter: FilterDefinition) -> String {
        guard let given = examples[filter.name]?.step(named: filter.name) else { return "" }
        return filter.parameters.compactMap { parameter in
            given[parameter.shortName].map { value in
                let text = if case .string(let string) = value { string } else { value.canonical }
                return parameter.shortName + " " + (text.count > Self.valueLengthMax ? "…" : text)
            }
        }.joined(separator: ", ")
    }

    /// The anchor that GitHub gives a heading.
    private static func anchor(of heading: String) -> String {
        heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "-" }
    }
}

extension JSONValue {
    /// The fields of the filter of that name, which may be a mask of another one.
    fileprivate func step(named name: String) -> [String: JSONValue]? {
        switch self {
        case .array(let values): values.lazy.compactMap { $0.step(named: name) }.first
        case .object(let fields) where fields["name"] == .string(name): fields
        case .object(let fields): fields["maskImage"]?.step(named: name)
        default: nil
        }
    }
}
