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
                "\(path) is \(name.debugDescription), which is not a filter of the catalogue; "
                    + "known: \(all.map(\.name).joined(separator: ", ")).")
        }
        return definition
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
