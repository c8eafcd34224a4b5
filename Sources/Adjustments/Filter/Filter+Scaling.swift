extension Filter {
    /// The same filter on a photo of another size: lengths and places count its pixels.
    ///
    /// - Parameters:
    ///   - scale: by what lengths and places grow.
    ///   - path: where the filter stands, for errors.
    /// - Throws: `parameterOutOfRange` when a length leaves its range by the scaling.
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

    /// The same filter for a small copy that is only to be looked at.
    ///
    /// - Parameters:
    ///   - copy: the size of the picture that it is for.
    ///   - full: the size of the picture whose pixels its lengths and places count.
    public func shown(on copy: PixelSize, of full: PixelSize) throws(Failure) -> Filter {
        try scaled(
            by: PhotoScale(preview: full, photo: copy, isForLooking: true),
            at: "\(name) scaled from \(full) to \(copy)")
    }
}

/// By what lengths and places grow from a preview to the full photo.
///
/// Preview and photo may differ by a rounded pixel in their aspect, so places grow with their own
/// side, and lengths by the mean of both: √(photo pixels / preview pixels).
struct PhotoScale {
    let preview: PixelSize
    let photo: PixelSize
    /// Whether it is only to be looked at: a length that leaves its range then stays at its end, since a
    /// small copy cannot show it better.
    var isForLooking = false

    /// The same after a quarter turn.
    var turned: PhotoScale {
        PhotoScale(
            preview: Orientation.right.size(of: preview), photo: Orientation.right.size(of: photo),
            isForLooking: isForLooking)
    }

    func scaled(
        _ number: Double, of unit: ParameterDefinition.Unit, in range: ClosedRange<Double>
    ) -> Double {
        let scaled = number * factor(of: unit)
        return isForLooking ? min(max(scaled, range.lowerBound), range.upperBound) : scaled
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
