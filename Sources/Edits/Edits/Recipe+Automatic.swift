extension Recipe {
    /// Whether a filter's parameters depend on an analysis of the photo.
    public var isAutomatic: Bool { filters.contains(where: \.definition.isAutomatic) }

    /// Returns the recipe with each automatic filter replaced by the filters chosen for the photo.
    ///
    /// The adjustment data record this form: a later render needs no analysis, and has the same result even if the analysis
    /// changes.
    ///
    /// - Parameter statistics: statistics of the original photo.
    public func resolved(by statistics: PhotoStatistics) throws(Failure) -> Recipe {
        var resolved: [Filter] = []
        for filter in filters {
            if case .automatic(let resolve) = filter.definition.kernel {
                resolved += try resolve(filter, statistics)
            } else {
                resolved.append(filter)
            }
        }
        return try Recipe(filters: resolved, referenceSize: referenceSize, output: output)
    }
}

extension FilterDefinition {
    /// Whether it is replaced by filters that are chosen by statistics of the photo.
    public var isAutomatic: Bool {
        if case .automatic = kernel { true } else { false }
    }
}
