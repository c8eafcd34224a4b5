/// One step of a recipe: a filter of the catalogue with a value for each of its parameters.
public struct Filter: Sendable, Equatable {
    /// The name Core Image gives it.
    public let name: String
    /// Every parameter by its full name (`inputIntensity`), defaults filled in.
    public let parameters: [String: Double]

    /// Makes a checked filter.
    ///
    /// - Parameters:
    ///   - given: parameters by full or short name; those not given take their default.
    ///   - path: where the filter stands, for errors.
    /// - Throws: `unknownFilter`, `unknownParameter`, `parameterOutOfRange`, or `invalidValue` when
    ///   a parameter is given by both its names.
    public init(
        _ name: String, _ given: [String: Double] = [:], at path: String = "filter"
    ) throws(Failure) {
        let definition = try Self.definition(of: name, at: path)
        var rest = given
        var values: [String: Double] = [:]
        for parameter in definition.parameters {
            let full = rest.removeValue(forKey: parameter.name)
            let short = rest.removeValue(forKey: parameter.shortName)
            if full != nil, short != nil {
                throw Failure(
                    .invalidValue,
                    "\(path) gives both \(parameter.name) and \(parameter.shortName), "
                        + "which are one parameter. Keep one of them.")
            }
            let value = full ?? short ?? parameter.defaultValue
            guard parameter.range.contains(value) else {
                throw Failure(
                    .parameterOutOfRange,
                    "\(path).\(parameter.name) is \(value); \(name) takes "
                        + "\(parameter.range.lowerBound) to \(parameter.range.upperBound).")
            }
            values[parameter.name] = value
        }
        if let unknown = rest.keys.sorted().first {
            throw Self.unknownParameter(unknown, of: definition, at: path)
        }
        self.name = name
        self.parameters = values
    }

    static func definition(of name: String, at path: String) throws(Failure) -> FilterDefinition {
        guard let definition = FilterCatalogue.definition(named: name) else {
            throw Failure(
                .unknownFilter,
                "\(path).name is \(name.debugDescription), which is not a filter of the catalogue; "
                    + "known: \(FilterCatalogue.all.map(\.name).joined(separator: ", ")).")
        }
        return definition
    }

    static func unknownParameter(
        _ name: String, of definition: FilterDefinition, at path: String
    ) -> Failure {
        let known = definition.parameters.map(\.name).joined(separator: ", ")
        return Failure(
            .unknownParameter,
            "\(path).\(name) is not a parameter of \(definition.name); "
                + (known.isEmpty ? "it takes none." : "it takes \(known)."))
    }

    /// Its definition.
    public var definition: FilterDefinition {
        guard let definition = FilterCatalogue.definition(named: name) else {
            preconditionFailure("a Filter is only made with a name of the catalogue, not \(name)")
        }
        return definition
    }

    /// The value of a parameter by its full name.
    public func value(_ parameter: String) -> Double {
        guard let value = parameters[parameter] else {
            preconditionFailure("\(name) has no parameter \(parameter)")
        }
        return value
    }
}

extension Filter: CustomStringConvertible {
    /// As a person writes it on the command line: `CISepiaTone:inputIntensity=0.8`.
    public var description: String {
        let values = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return values.isEmpty ? name : name + ":" + values.joined(separator: ",")
    }
}

extension Filter: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(JSONValue(from: decoder), at: "filter")
    }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
