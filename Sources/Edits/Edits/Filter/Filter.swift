/// One step of a recipe: a filter of the catalogue with a value for each of its parameters.
public struct Filter: Sendable, Equatable {
    /// The filter's name in Core Image.
    public let name: String
    /// Every parameter by its full name (`inputIntensity`), defaults filled in.
    public let parameters: [String: FilterValue]

    /// Creates a checked filter.
    ///
    /// - Parameters:
    ///   - given: parameters by full or short name; missing ones have their defaults.
    ///   - path: the path of the filter, for errors.
    /// - Throws: `unknownFilter`, `unknownParameter`, `missingField`, `parameterOutOfRange`, or `invalidValue`, also if a parameter
    ///   is given by both its names.
    public init(
        _ name: String, _ given: [String: FilterValue] = [:], at path: String = "filter"
    ) throws(Failure) {
        let definition = try FilterCatalogue.known(name, at: "\(path).name")
        try self.init(definition, given, at: path) {
            parameter, value, path throws(Failure) in
            try parameter.checked(value, of: name, at: path)
        }
    }

    /// Creates a filter from values of some form, which `read` checks.
    init<Value>(
        _ definition: FilterDefinition, _ given: [String: Value], at path: String,
        _ read: (ParameterDefinition, Value, String) throws(Failure) -> FilterValue
    ) throws(Failure) {
        // Names are checked before values: for a misspelt name, an error about its value's type does not help.
        let known = Set(definition.parameters.flatMap(\.names))
        if let unknown = given.keys.filter({ !known.contains($0) }).min() {
            throw Self.unknownParameter(unknown, of: definition, at: path)
        }
        var values: [String: FilterValue] = [:]
        for parameter in definition.parameters {
            let names = parameter.names.filter { given[$0] != nil }
            guard names.count < 2 else {
                throw Failure(
                    .invalidValue,
                    "\(path) gives both \(parameter.name) and \(parameter.shortName), "
                        + "which are one parameter. Keep one of them.")
            }
            if let name = names.first, let value = given[name] {
                values[parameter.name] = try read(parameter, value, "\(path).\(name)")
            } else if let value = parameter.defaultValue {
                values[parameter.name] = value
            } else {
                throw Failure(
                    .missingField,
                    "\(path).\(parameter.name) is missing; \(definition.name) needs "
                        + "\(parameter.expectation) there.")
            }
        }
        name = definition.name
        parameters = values
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

    /// Rejects a filter that cannot be a step of an edit.
    func checkIsStep(at path: String) throws(Failure) {
        guard !definition.isGenerator else {
            throw Failure(
                .invalidValue,
                "\(path) is \(name), which generates a picture and does not change a photo. Use it as a "
                    + "mask.")
        }
    }

    /// The number of filters, including those nested inside it.
    public var count: Int {
        parameters.values.reduce(1) { count, value in
            switch value {
            case .filters(let filters): filters.reduce(count) { $0 + $1.count }
            case .generator(let filter): count + filter.count
            default: count
            }
        }
    }

    /// Its definition.
    public var definition: FilterDefinition {
        guard let definition = FilterCatalogue.definition(named: name) else {
            preconditionFailure("a Filter is only made with a name of the catalogue, not \(name)")
        }
        return definition
    }
}

// Typed access for the filter's own file: its definition guarantees the type of the value.
extension Filter {
    /// Returns a number, by its parameter's full name.
    public func number(_ parameter: String) -> Double {
        guard case .number(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a point, rectangle, colour, row or samples, by its parameter's full name.
    public func vector(_ parameter: String) -> [Double] {
        guard case .vector(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a word or a digest, by its parameter's full name.
    public func text(_ parameter: String) -> String {
        guard case .text(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns samples or the digest of a file of them, by its parameter's full name.
    public func table(_ parameter: String) -> FilterTable {
        switch value(parameter) {
        case .vector(let numbers): .inline(numbers)
        case .text(let digest): .file(digest)
        default: wrongKind(parameter)
        }
    }

    /// Returns a flag, by its parameter's full name.
    public func flag(_ parameter: String) -> Bool {
        guard case .flag(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a chain, by its parameter's full name.
    public func filters(_ parameter: String) -> [Filter] {
        guard case .filters(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    /// Returns a filter that makes a picture, by its parameter's full name.
    public func generator(_ parameter: String) -> Filter {
        guard case .generator(let value) = value(parameter) else { wrongKind(parameter) }
        return value
    }

    private func value(_ parameter: String) -> FilterValue {
        guard let value = parameters[parameter] else { wrongKind(parameter) }
        return value
    }

    private func wrongKind(_ parameter: String) -> Never {
        preconditionFailure("\(name) has no parameter \(parameter) of that kind")
    }
}

extension Filter: CustomStringConvertible {
    /// The filter in the form for the command line: `CISepiaTone:inputIntensity=0.8`.
    public var description: String {
        let values = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return values.isEmpty ? name : name + ":" + values.joined(separator: ",")
    }
}
