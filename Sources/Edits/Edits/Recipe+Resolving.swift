extension Recipe {
    /// Returns the recipe for a photo of `size`: lengths and coordinates count its pixels, steps that exist in requests only are
    /// replaced, and there is no reference size.
    ///
    /// - Parameters:
    ///   - size: the upright size of the full photo.
    ///   - pictures: the upright sizes of ``sizedPictures``.
    /// - Throws: `parameterOutOfRange` if a length leaves its range, `missingResource` if the size of a picture is not there, and errors
    ///   of geometry filters for a photo of that size.
    public func resolved(
        for size: PixelSize, pictures: [String: PixelSize] = [:]
    ) throws(Failure) -> Recipe {
        guard referenceSize != nil || dependsOnSize else { return self }
        return try Recipe(
            filters: steps(for: size, pictures: pictures).flatMap { $0.filters }, output: output)
    }

    /// Whether a step counts parts of the picture that it gets, or is one that exists in requests only.
    public var dependsOnSize: Bool { filters.contains(where: \.dependsOnSize) }

    /// The digests of the pictures on whose sizes steps depend.
    public var sizedPictures: Set<String> { Set(filters.flatMap(\.sizedPictures)) }

    /// A step, and the filters in pixels that it becomes.
    public struct ResolvedStep: Sendable, Equatable {
        public let asked: Filter
        public let filters: [Filter]
        /// A sentence for people about a choice that the photo forced; nil for none.
        public let note: String?
    }

    /// Returns each step with the filters in pixels that it becomes in a photo of `size`.
    ///
    /// - Throws: as ``resolved(for:pictures:)``.
    public func steps(
        for size: PixelSize, pictures: [String: PixelSize] = [:]
    ) throws(Failure) -> [ResolvedStep] {
        var place = StepPlace(photo: size, preview: referenceSize)
        // After a step that makes a size of its own, lengths scale from what it makes of the preview.
        var preview = filters.contains(where: \.makesOwnSize) ? referenceSize : nil
        var steps: [ResolvedStep] = []
        for (index, filter) in filters.enumerated() {
            let path = "edit.filters[\(index)]"
            let resolved = try filter.inPixels(place, pictures, at: path)
            for filter in resolved.filters { try place.pass(filter) }
            steps.append(
                ResolvedStep(asked: filter, filters: resolved.filters, note: resolved.note))
            if let size = preview {
                var own = StepPlace(photo: size, preview: nil)
                if filter.movesPixels {
                    for filter in try filter.inPixels(own, pictures, at: path).filters {
                        try own.pass(filter)
                    }
                }
                preview = own.picture
                if filter.makesOwnSize {
                    place.scale = PhotoScale(preview: own.picture, photo: place.picture)
                }
            }
        }
        return steps
    }

    /// Returns the recipe for a small copy that is only viewed.
    ///
    /// - Parameter full: the upright size whose pixels the recipe's lengths and coordinates count.
    public func shown(on copy: PixelSize, of full: PixelSize) throws(Failure) -> Recipe {
        var place = StepPlace(
            photo: copy, scale: PhotoScale(preview: full, photo: copy, isPreview: true))
        var shown: [Filter] = []
        for (index, filter) in filters.enumerated() {
            let filter = try filter.inPixels(place, at: "edit.filters[\(index)]")
            shown.append(filter)
            try place.pass(filter)
        }
        return try Recipe(filters: shown, output: output)
    }

    /// Returns the recipe to keep beside its pixels, because another photo would give it other ones: steps that depend on the
    /// picture's size as they were sent, and all others in pixels of the photo. nil if there is none of the former, or if it has
    /// more than ``ContractLimits/editBytesMax`` bytes.
    ///
    /// - Parameters:
    ///   - size: the upright size of the photo.
    ///   - pictures: the upright sizes of ``sizedPictures``.
    public func kept(
        for size: PixelSize, pictures: [String: PixelSize] = [:]
    ) throws(Failure) -> Recipe? {
        guard dependsOnSize else { return nil }
        let kept = try Recipe(
            filters: steps(for: size, pictures: pictures).flatMap {
                $0.asked.dependsOnSize ? [$0.asked] : $0.filters
            },
            output: output)
        return kept.json.canonical.utf8.count <= ContractLimits.editBytesMax ? kept : nil
    }
}

extension Edit.Steps {
    /// The digests of the pictures on whose sizes steps depend.
    public var sizedPictures: Set<String> { Set(filters.flatMap(\.sizedPictures)) }
}

/// The picture that a step gets, in which its values become pixels.
struct StepPlace {
    /// The upright photo.
    let photo: PixelSize
    /// The picture.
    var picture: PixelSize
    /// The factors for values in pixels of a preview; nil if they count the photo's.
    var scale: PhotoScale?

    init(photo: PixelSize, scale: PhotoScale?) {
        self.photo = photo
        picture = photo
        self.scale = scale
    }

    init(photo: PixelSize, preview: PixelSize?) {
        self.init(
            photo: photo, scale: preview.map { PhotoScale(preview: $0, photo: photo) })
    }

    /// Goes on to the picture after a filter in pixels.
    ///
    /// - Throws: errors of its parameters for the picture.
    mutating func pass(_ filter: Filter) throws(Failure) {
        guard !filter.changesNothing else { return }
        let context = FilterContext(size: picture)
        switch filter.definition.kernel {
        case .geometry(let make):
            let geometry = try make(filter, context)
            picture = geometry.size
            if geometry.swapsSides { scale = scale?.turned }
        case .neighbourhood(let make): picture = picture.grown(by: try make(filter, context).growth)
        case .pixel, .generator, .automatic, .sized: break
        }
    }

    /// Returns a number in pixels.
    ///
    /// - Throws: `parameterOutOfRange` if a relative one leaves its range.
    fileprivate func pixels(
        _ number: Double, _ unit: ParameterDefinition.Unit, _ range: ClosedRange<Double>,
        in units: Units, of filter: String, at path: String
    ) throws(Failure) -> Double {
        guard units == .relative else {
            return scale?.scaled(number, of: unit, in: range) ?? number
        }
        guard let side = unit.side(of: picture) else { return number }
        let pixels = number * Double(side)
        guard range.contains(pixels) else {
            let cut = picture == photo ? "" : ", of which \(picture) are left there"
            throw Failure(
                .parameterOutOfRange,
                "\(path) is \(number), which is \(pixels) pixels on the photo of \(photo)\(cut); \(filter) takes "
                    + "\(range.lowerBound) to \(range.upperBound).")
        }
        return pixels
    }
}

extension Filter {
    /// Whether it may make a picture of another size: a step of a request that lays something on the photo does not.
    fileprivate var movesPixels: Bool {
        if case .sized = definition.kernel { definition.category == .geometry } else { true }
    }

    /// Whether the picture that it makes has a size that does not follow from its parameters alone.
    fileprivate var makesOwnSize: Bool {
        if case .sized = definition.kernel { movesPixels } else { false }
    }

    /// The digests of the pictures on whose sizes it depends.
    fileprivate var sizedPictures: [String] {
        guard case .sized = definition.kernel else { return [] }
        return definition.parameters.compactMap { parameter in
            if case .resource = parameter.kind { text(parameter.name) } else { nil }
        }
    }

    /// Returns the filters in pixels that it becomes.
    fileprivate func inPixels(
        _ place: StepPlace, _ pictures: [String: PixelSize], at path: String
    ) throws(Failure) -> SizedFilters {
        if case .sized(let make) = definition.kernel {
            return try make(self, path)(SizedPlace(size: place.picture, pictures: pictures))
        }
        guard place.scale != nil || isRelative else { return SizedFilters([self]) }
        return SizedFilters([try inPixels(place, at: path)])
    }

    /// Returns the filter in pixels of the photo.
    ///
    /// - Parameter path: the path of the filter, for errors.
    /// - Throws: `parameterOutOfRange` if a length leaves its range.
    func inPixels(_ place: StepPlace, at path: String) throws(Failure) -> Filter {
        let scaled = place.scale.map { " scaled from \($0.preview) to \($0.photo)" } ?? ""
        let here = units == .relative ? path : path + scaled
        var values: [String: FilterValue] = [:]
        for parameter in definition.parameters {
            guard let value = parameters[parameter.name] else { continue }
            values[parameter.name] = try inPixels(
                value, of: parameter, units, place, at: path, "\(here).\(parameter.name)")
        }
        return try Filter(name, values, at: here)
    }

    /// Returns the value of a parameter in pixels.
    ///
    /// - Parameters:
    ///   - units: what its numbers count.
    ///   - path: the path of the filter, for errors.
    ///   - name: the path of the parameter.
    func inPixels(
        _ value: FilterValue, of parameter: ParameterDefinition, _ units: Units,
        _ place: StepPlace, at path: String, _ name: String
    ) throws(Failure) -> FilterValue {
        switch (parameter.kind, value) {
        case (.number(let range, let unit), .number(let number)):
            return .number(
                try place.pixels(number, unit, range, in: units, of: self.name, at: name))
        case (.vector(let range, let parts), .vector(let numbers)):
            var pixels: [Double] = []
            for (index, (number, unit)) in zip(numbers, parts).enumerated() {
                pixels.append(
                    try place.pixels(
                        number, unit, range, in: units, of: self.name, at: "\(name)[\(index)]"))
            }
            return .vector(pixels)
        case (.filters, .filters(let filters)):
            var inner: [Filter] = []
            for (index, filter) in filters.enumerated() {
                inner.append(
                    try filter.inPixels(place, at: "\(path).\(parameter.name)[\(index)]"))
            }
            return .filters(inner)
        case (.generator, .generator(let filter)):
            return .generator(try filter.inPixels(place, at: "\(path).\(parameter.name)"))
        default: return value
        }
    }
}
