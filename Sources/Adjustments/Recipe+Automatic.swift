extension Recipe {
    /// Whether a filter has to see the photo before its parameters are known.
    public var isAutomatic: Bool { filters.contains(where: \.definition.isAutomatic) }

    /// The same recipe with each automatic filter replaced by the filters it stands for.
    ///
    /// That is what the adjustment data records: a later render needs no analysis, and comes out alike
    /// whatever the analysis will be like then.
    ///
    /// - Parameter statistics: of the photo as it came in.
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
    /// Whether it stands for filters that are chosen by looking at the photo.
    public var isAutomatic: Bool {
        if case .automatic = kernel { true } else { false }
    }
}
