import CFilterRegistry

/// Every filter that Minilab renders.
///
/// No list names them. Each filter's file (in `Filters`) puts a pointer to a function into a section
/// of the program that the linker gathers, and that function hands over the definition:
///
///     @section("minilab_filters") @used
///     private static let registration: FilterRegistration = { register(definition, in: $0) }
///
/// So a filter is added by its file alone. Rejected: a list by hand (a second file to touch), a build
/// plugin that writes the list (a second program to build).
public enum FilterCatalogue {
    /// All definitions, by name.
    public static let all: [FilterDefinition] = {
        var count = 0
        guard let registrations = minilab_filter_registrations(&count) else { return [] }
        var definitions: [FilterDefinition] = []
        for index in 0..<count {
            withUnsafeMutablePointer(to: &definitions) { registrations[index]($0) }
        }
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

/// What a filter's file puts into the section `minilab_filters`.
public typealias FilterRegistration =
    @convention(c) (_ definitions: UnsafeMutableRawPointer?) ->
    Void

/// Hands a definition to the catalogue; only to be called by a ``FilterRegistration``.
public func register(
    _ definition: FilterDefinition, in definitions: UnsafeMutableRawPointer?
) {
    definitions?.assumingMemoryBound(to: [FilterDefinition].self).pointee.append(definition)
}
