/// The documentation of filters, made from the catalogue: one filter for `minilab filters NAME`, and all of them for
/// `jobs/FILTERS.md`.
public enum FilterPage {
    /// All filters, in Markdown, with a picture of each.
    ///
    /// - Parameter examples: the text of `jobs/filters/examples.json`.
    /// - Throws: `malformedJSON` or `invalidValue` for examples that are none.
    public static func markdown(examples: String) throws(Failure) -> String {
        let gallery = try FilterGallery(json: examples)
        var lines = [
            "# Filters", "",
            "Made by `ops/generate` from the catalogue of filters; `minilab filters NAME` shows the same.",
            "Each parameter may be spelled as Core Image's key (`inputIntensity`) or short (`intensity`).",
            "Places count pixels of the upright photo from the bottom left; angles are counter-clockwise.",
            "With `units: relative`, `x` and `y` are fractions of the width and the height of the picture that the filter gets,",
            "and `pixels` are fractions of its shorter side; see [EDITS.md](EDITS.md#units).",
            "",
            "*exact*: published, or equal to Core Image's pixels but for rounding. *measured*: compared with",
            "Core Image's pixels, with the RMS error in steps of 255. *look-alike*: Apple's kernel is",
            "unpublished; ours may look different.",
            "",
            "Under each picture are the parameters that its filter was given; the edits are in",
            "[`filters/examples.json`](filters/examples.json). Any of the pictures is one command:",
            "`minilab render jobs/filters/original.jpg out.jpg --filter CISepiaTone:intensity=1`",
        ]
        for category in FilterDefinition.Category.allCases {
            let filters = FilterCatalogue.all.filter { $0.category == category }
            guard !filters.isEmpty else { continue }
            lines += ["", "## \(category.rawValue)", ""] + gallery.html(of: filters, in: category)
            for filter in filters {
                lines += ["", "### \(filter.name)", ""] + markdown(of: filter)
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func markdown(of filter: FilterDefinition) -> [String] {
        var lines = [
            "\(filter.summary) *\(filter.fidelity.label).* \(filter.source)\(filter.noteOnUnits)"
        ]
        guard !filter.parameters.isEmpty else { return lines }
        lines += [
            "", "| parameter | values | default | changes nothing | |", "|---|---|---|---|---|",
        ]
        for parameter in filter.parameters {
            let cells = [
                "`\(parameter.shortName)`", parameter.kind.text,
                parameter.defaultValue.map(\.description) ?? "required",
                parameter.identity.map(\.description) ?? "", parameter.summary,
            ]
            lines.append("| " + cells.joined(separator: " | ") + " |")
        }
        return lines
    }

    public static func text(of filter: FilterDefinition) -> String {
        var lines = [
            filter.name, "  " + filter.summary,
            "  \(filter.fidelity.label). \(filter.source)\(filter.noteOnUnits)",
        ]
        for parameter in filter.parameters {
            lines += ["", "  \(parameter.names.joined(separator: ", ")): \(parameter.kind.text)"]
            lines.append("    " + parameter.summary)
            lines.append(
                "    "
                    + (parameter.defaultValue.map { "default \($0)" } ?? "required")
                    + (parameter.identity.map { "; \($0) changes nothing" } ?? ""))
        }
        return lines.joined(separator: "\n")
    }
}

extension FilterDefinition {
    /// A sentence about a neighbourhood of fixed size; empty for other filters.
    fileprivate var noteOnUnits: String {
        guard case .neighbourhood = kernel, !hasLengths else { return "" }
        return " It follows the pixel, whatever the units of the edit."
    }
}

extension FilterDefinition.Fidelity {
    /// The fidelity in a word or two.
    public var label: String {
        switch self {
        case .exact: "exact"
        case .measured(let rms): "measured: RMS \(rms)"
        case .lookAlike: "look-alike"
        }
    }
}

extension ParameterDefinition.Kind {
    /// The values in a few words.
    var text: String {
        func text(_ range: ClosedRange<Double>) -> String {
            "\(FilterValue.number(range.lowerBound).json.canonical) … "
                + FilterValue.number(range.upperBound).json.canonical
        }
        switch self {
        case .number(let range, let unit):
            return text(range) + (unit == .factor ? "" : " \(unit.rawValue)")
        case .vector(let range, let units):
            let names = units.map { $0 == .factor ? "number" : $0.rawValue }
            return "[\(names.joined(separator: ", "))]"
                + (range == ParameterDefinition.coordinateRange ? "" : ", each \(text(range))")
        case .color: return "colour"
        case .samples(let range, let count, let groups):
            return "\(count.text) numbers \(text(range))"
                + (groups > 1 ? ", a multiple of \(groups)" : "")
        case .table(let range, let count, let groups):
            return "\(count.text) numbers \(text(range))"
                + (groups > 1 ? ", a multiple of \(groups)" : "") + "; or sha256:…"
        case .choice(let choices): return choices.joined(separator: ", ")
        case .flag: return "true, false"
        case .resource: return "sha256:…"
        case .filters: return "filters"
        case .generator: return "gradient"
        case .box: return "[width, height], pixels or null"
        case .focus:
            return "[x, y], fractions; or " + Focus.named.keys.sorted().joined(separator: ", ")
        }
    }
}

extension ClosedRange<Int> {
    /// The range as text: `9`, or `2 to 5`.
    var text: String {
        lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)"
    }
}

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
