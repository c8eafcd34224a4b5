import CMinilab

/// Every filter that Minilab renders, as `FilterList` of target `Filters` names them.
///
/// Edits are checked against the catalogue here, below the filters' mathematics. So the list comes by a symbol that the linker
/// resolves: a program without `Filters` does not link. Rejected: a list that is given to each reader of an edit (it would pass
/// through every initializer), and one that is set at start (it could be missing).
public enum FilterCatalogue {
    public static let all: [FilterDefinition] = {
        var definitions: [FilterDefinition] = []
        withUnsafeMutablePointer(to: &definitions) { minilab_filter_list($0) }
        return definitions.sorted { $0.name < $1.name }
    }()

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The definition of the filter of that name, or nil.
    public static func definition(named name: String) -> FilterDefinition? { byName[name] }

    /// The definition of the filter of that name.
    ///
    /// - Parameter path: where the name stands, for the error.
    /// - Throws: `unknownFilter`.
    public static func known(_ name: String, at path: String) throws(Failure) -> FilterDefinition {
        guard let definition = byName[name] else {
            throw Failure(
                .unknownFilter,
                "\(path) is \(name.debugDescription), which is not a filter of the catalogue; most like it "
                    + "are \(closest(to: name).joined(separator: ", ")). minilab filters lists all "
                    + "\(all.count).")
        }
        return definition
    }

    /// The three names that take the fewest changes of a letter to get to.
    private static func closest(to name: String) -> ArraySlice<String> {
        // Names are short; what is longer is cut, so that a hostile one costs nothing.
        let wanted = Array(name.lowercased().utf8.prefix(64))
        let distances = all.map { filter in
            (name: filter.name, distance: distance(wanted, Array(filter.name.lowercased().utf8)))
        }
        return distances.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
            .map(\.name).prefix(3)
    }

    /// Levenshtein's: letters put in, taken out or replaced.
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var row = Array(0...second.count)
        for (i, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in second.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[second.count]
    }
}
