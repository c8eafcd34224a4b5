/// The value of one parameter.
public enum FilterValue: Sendable, Equatable {
    /// A number.
    case number(Double)
    /// A point `[x, y]`, a rectangle `[x, y, width, height]`, a colour `[r, g, b, a]`, a row of a
    /// matrix, or samples.
    case vector([Double])
    /// A word, or the digest of a resource.
    case text(String)
    /// Yes or no.
    case flag(Bool)
    /// A chain.
    case filters([Filter])
    /// A filter that makes a picture.
    case generator(Filter)

    /// The value as JSON.
    public var json: JSONValue {
        switch self {
        case .number(let value): .number(value)
        case .vector(let values): .array(values.map(JSONValue.number))
        case .text(let value): .string(value)
        case .flag(let value): .bool(value)
        case .filters(let filters): .array(filters.map(\.json))
        case .generator(let filter): filter.json
        }
    }

    /// The number, if it is one.
    public var number: Double? {
        guard case .number(let value) = self else { return nil }
        return value
    }
}

/// The location of a table's numbers.
public enum FilterTable: Sendable {
    /// In the recipe.
    case inline([Double])
    /// In the file with this digest.
    case file(String)
}

extension FilterValue: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral
{
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    public init(arrayLiteral elements: Double...) { self = .vector(elements) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension FilterValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .number(let value): "\(value)"
        case .text(let value): value
        default: json.canonical
        }
    }
}
