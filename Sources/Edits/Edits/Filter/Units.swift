/// The unit of a filter's lengths and places: `units` of an edit and of a step.
public enum Units: String, Sendable, CaseIterable {
    /// Pixels of the photo, or of the preview of a `referenceSize`.
    case pixels
    /// Parts of the picture that the filter gets: lengths of its shorter side, places of its width and height.
    case relative

    init(_ value: JSONValue, at path: String) throws(Failure) {
        guard case .string(let text) = value, let units = Self(rawValue: text) else {
            throw Failure(
                .invalidValue,
                "\(path) is \(value.canonical); allowed: "
                    + Self.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        self = units
    }
}

extension ParameterDefinition.Unit {
    /// The range of relative lengths: four times the shorter side is beyond each corner of a panorama of 4:1.
    static let relativeLengths = 0.0...4
    /// The range of relative places, far outside of the picture.
    static let relativePlaces = -16.0...16

    /// Returns the range of values in these units, if it is `range` in pixels.
    func range(_ range: ClosedRange<Double>, in units: Units) -> ClosedRange<Double> {
        guard units == .relative else { return range }
        return switch self {
        case .pixels, .pixelsPerPixel: Self.relativeLengths
        case .x, .y: Self.relativePlaces
        case .factor, .radians, .degrees, .stops, .kelvin, .count: range
        }
    }

    /// Whether values change their meaning with ``Units``.
    var isLength: Bool {
        side(of: PixelSize(width: 1, height: 1)) != nil || self == .pixelsPerPixel
    }

    /// Returns the pixels that a relative value of 1 is in a picture; nil for values that units do not change.
    func side(of picture: PixelSize) -> Int? {
        switch self {
        case .x: picture.width
        case .y: picture.height
        case .pixels: min(picture.width, picture.height)
        case .pixelsPerPixel, .factor, .radians, .degrees, .stops, .kelvin, .count: nil
        }
    }
}

extension ParameterDefinition {
    /// The units of its numbers; empty if it has none.
    private var parts: [Unit] {
        switch kind {
        case .number(_, let unit): [unit]
        case .vector(_, let units): units
        case .color, .samples, .table, .choice, .flag, .resource, .filters, .generator, .box,
            .focus:
            []
        }
    }

    /// Whether one of its numbers is a length or a place.
    var hasLengths: Bool { parts.contains(where: \.isLength) }

    /// Whether it counts pixels of the photo for one of another picture, which has no relative value.
    var isPixelsPerPixel: Bool { parts.contains(.pixelsPerPixel) }
}

extension FilterDefinition {
    /// Whether a parameter of its own is a length or a place.
    var hasLengths: Bool { parameters.contains(where: \.hasLengths) }

    /// Whether relative units can be used: not with pixels for one of another picture.
    var takesRelative: Bool { !parameters.contains(where: \.isPixelsPerPixel) }
}

extension Filter {
    static func checkTakesRelative(
        _ definition: FilterDefinition, at path: String
    ) throws(Failure) {
        guard let parameter = definition.parameters.first(where: \.isPixelsPerPixel) else { return }
        throw Failure(
            .invalidValue,
            "\(path).units is \"relative\", but \(parameter.name) of \(definition.name) counts pixels of the photo for one "
                + "of the picture; expected \"pixels\" there. The step mark takes a width relative to the photo."
        )
    }

    static func missingLength(
        _ parameter: ParameterDefinition, of definition: FilterDefinition, at path: String
    ) -> Failure {
        Failure(
            .missingField,
            "\(path).\(parameter.name) is missing; with relative units \(definition.name) needs \(parameter.expectation) "
                + "there, because its default is in pixels of a small picture.")
    }

    /// Whether its own or an inner filter's values are relative.
    var isRelative: Bool {
        units == .relative
            || parameters.values.contains { value in
                switch value {
                case .filters(let filters): filters.contains(where: \.isRelative)
                case .generator(let filter): filter.isRelative
                case .number, .vector, .text, .flag, .box, .focus: false
                }
            }
    }

    /// Whether it depends on the size of the picture that it gets, beyond a `referenceSize`.
    public var dependsOnSize: Bool {
        if case .sized = definition.kernel { return true }
        return isRelative
    }
}
