extension Filter {
    /// Reads one filter of an edit.
    init(_ value: JSONValue, at path: String) throws(Failure) {
        if case .string(let text) = value {
            try self.init(CSSFunction.object(text, at: path), at: path)
            return
        }
        guard case .object(var fields) = value else {
            throw Failure(
                .invalidValue,
                "\(path) is \(value.kind); expected an object such as "
                    + #"{"name": "CISepiaTone", "inputIntensity": 0.8}, or a CSS function such as "#
                    + #""css:sepia(0.8)"."#)
        }
        guard let name = fields.removeValue(forKey: "name") else {
            throw Failure(
                .missingField,
                "\(path).name is missing; it names the filter, such as \"CISepiaTone\".")
        }
        guard case .string(let name) = name else {
            throw Failure(.invalidValue, "\(path).name is \(name.kind); expected a string.")
        }
        try self.init(try FilterCatalogue.known(name, at: "\(path).name"), fields, at: path) {
            parameter, value, path throws(Failure) in
            try parameter.value(value, of: name, at: path)
        }
    }

    /// The JSON, with every parameter by its full name.
    var json: JSONValue {
        var fields = parameters.mapValues(\.json)
        fields["name"] = .string(name)
        return .object(fields)
    }
}

extension Filter: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(JSONValue(from: decoder), at: "filter")
    }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
