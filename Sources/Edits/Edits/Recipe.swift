/// Decoded adjustment data: an ordered list of filters and the output settings.
///
/// In Minilab's own adjustment data it has the form of an edit that replaces (`jobs/edit.schema.json`).
public struct Recipe: Sendable, Equatable {
    /// The steps in order; empty if the photo is only encoded again.
    public let filters: [Filter]
    /// Size of the upright preview on which the edit was made, or nil if lengths count full-size pixels.
    public let referenceSize: PixelSize?
    /// The output settings.
    public let output: Output

    /// Makes a recipe of checked filters.
    ///
    /// - Throws: `oversizedField` if there are too many.
    public init(
        filters: [Filter], referenceSize: PixelSize? = nil, output: Output = Output()
    ) throws(Failure) {
        try Self.check(filters)
        self.filters = filters
        self.referenceSize = referenceSize
        self.output = output
    }

    /// - Throws: `oversizedField` if there are too many; `invalidValue` if one cannot be a step.
    static func check(_ filters: [Filter]) throws(Failure) {
        let count = filters.reduce(0) { $0 + $1.count }
        guard count <= ContractLimits.filtersMax else {
            throw Failure(
                .oversizedField,
                "edit.filters has \(count) filters; at most \(ContractLimits.filtersMax) are allowed, "
                    + "those inside others counted.")
        }
        for (index, filter) in filters.enumerated() {
            try filter.checkIsStep(at: "edit.filters[\(index)]")
        }
    }

    /// Returns the recipe for a photo of `size`: lengths and coordinates count its pixels, and there is no reference size.
    ///
    /// - Parameter size: the upright size of the full photo.
    /// - Throws: `parameterOutOfRange` if a scaled length leaves its range, and errors of geometry filters for a photo of that
    ///   size.
    public func scaled(to size: PixelSize) throws(Failure) -> Recipe {
        guard let referenceSize else { return self }
        return try scaled(by: PhotoScale(preview: referenceSize, photo: size))
    }

    /// Returns the recipe for a small copy that is only viewed.
    ///
    /// - Parameter full: the upright size whose pixels the recipe's lengths and coordinates count.
    public func shown(on copy: PixelSize, of full: PixelSize) throws(Failure) -> Recipe {
        try scaled(by: PhotoScale(preview: full, photo: copy, isPreview: true))
    }

    private func scaled(by scale: PhotoScale) throws(Failure) -> Recipe {
        var scale = scale
        var current = scale.photo
        var scaled: [Filter] = []
        for (index, filter) in filters.enumerated() {
            let filter = try filter.scaled(
                by: scale,
                at: "edit.filters[\(index)] scaled from \(scale.preview) to \(scale.photo)")
            scaled.append(filter)
            guard case .geometry(let make) = filter.definition.kernel else { continue }
            let geometry = try make(filter, FilterContext(size: current))
            current = geometry.size
            if geometry.swapsSides { scale = scale.turned }
        }
        return try Recipe(filters: scaled, output: output)
    }
}
