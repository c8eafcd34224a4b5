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
        var lines = ["\(filter.summary) *\(filter.fidelity.label).* \(filter.source)"]
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

    /// One filter, in plain text.
    public static func text(of filter: FilterDefinition) -> String {
        var lines = [
            filter.name, "  " + filter.summary, "  \(filter.fidelity.label). \(filter.source)",
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
        }
    }
}

extension ClosedRange<Int> {
    /// The range as text: `9`, or `2 to 5`.
    var text: String {
        lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound) to \(upperBound)"
    }
}
