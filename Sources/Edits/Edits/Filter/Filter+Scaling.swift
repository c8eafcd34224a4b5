extension Filter {
    /// Returns the filter for a photo of another size: lengths and coordinates count its pixels.
    ///
    /// - Parameters:
    ///   - scale: the factors for lengths and coordinates.
    ///   - path: the path of the filter, for errors.
    /// - Throws: `parameterOutOfRange` if a scaled length leaves its range.
    func scaled(by scale: PhotoScale, at path: String) throws(Failure) -> Filter {
        var values: [String: FilterValue] = [:]
        for parameter in definition.parameters {
            guard let value = parameters[parameter.name] else { continue }
            switch (parameter.kind, value) {
            case (.number(let range, let unit), .number(let number)):
                values[parameter.name] = .number(scale.scaled(number, of: unit, in: range))
            case (.vector(let range, let units), .vector(let numbers)):
                values[parameter.name] = .vector(
                    zip(numbers, units).map { scale.scaled($0, of: $1, in: range) })
            case (.filters, .filters(let filters)):
                var scaled: [Filter] = []
                for (index, filter) in filters.enumerated() {
                    scaled.append(
                        try filter.scaled(by: scale, at: "\(path).\(parameter.name)[\(index)]"))
                }
                values[parameter.name] = .filters(scaled)
            case (.generator, .generator(let filter)):
                values[parameter.name] = .generator(
                    try filter.scaled(by: scale, at: "\(path).\(parameter.name)"))
            default: values[parameter.name] = value
            }
        }
        return try Filter(name, values, at: path)
    }

    /// Returns the filter for a small copy that is only viewed.
    ///
    /// - Parameters:
    ///   - copy: the size of the copy.
    ///   - full: the size of the picture whose pixels its lengths and coordinates count.
    public func shown(on copy: PixelSize, of full: PixelSize) throws(Failure) -> Filter {
        try scaled(
            by: PhotoScale(preview: full, photo: copy, isPreview: true),
            at: "\(name) scaled from \(full) to \(copy)")
    }
}

/// The factors for lengths and coordinates from a preview to the full photo.
///
/// The aspects of preview and photo may differ by a rounded pixel. So coordinates are scaled with their own side, and lengths with the
/// mean of both: √(photo pixels / preview pixels).
struct PhotoScale {
    let preview: PixelSize
    let photo: PixelSize
    /// Whether the copy is only viewed. A length that leaves its range is then clamped, since a small copy cannot show it better.
    var isPreview = false

    /// The factors after a quarter turn.
    var turned: PhotoScale {
        PhotoScale(
            preview: Orientation.right.size(of: preview), photo: Orientation.right.size(of: photo),
            isPreview: isPreview)
    }

    func scaled(
        _ number: Double, of unit: ParameterDefinition.Unit, in range: ClosedRange<Double>
    ) -> Double {
        let scaled = number * factor(of: unit)
        return isPreview ? min(max(scaled, range.lowerBound), range.upperBound) : scaled
    }

    private func factor(of unit: ParameterDefinition.Unit) -> Double {
        switch unit {
        case .pixels: (Double(photo.pixels) / Double(preview.pixels)).squareRoot()
        case .x: Double(photo.width) / Double(preview.width)
        case .y: Double(photo.height) / Double(preview.height)
        case .factor, .radians, .degrees, .stops, .kelvin, .count: 1
        }
    }
}
