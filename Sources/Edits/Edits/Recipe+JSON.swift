extension Recipe {
    /// Reads the JSON that a producer sent.
    ///
    /// - Throws: the first error in it, named by its path.
    public init(json text: String) throws(Failure) {
        try self.init(JSONValue(edit: text))
    }

    /// Reads the JSON of a recorded version.
    ///
    /// - Throws: the error in it. It may be longer than an edit, up to ``ContractLimits/recipeBytesMax``.
    public init(recorded text: String) throws(Failure) {
        try Self.checkLength(text)
        try self.init(JSONValue(parsing: text, as: "recipe"))
    }

    /// Rejects a recipe that is too long to be recorded.
    ///
    /// - Throws: `oversizedField`.
    public func checkLength() throws(Failure) { try Self.checkLength(json.canonical) }

    private static func checkLength(_ text: String) throws(Failure) {
        guard text.utf8.count <= ContractLimits.recipeBytesMax else {
            throw Failure(
                .oversizedField,
                "the recipe has \(text.utf8.count) bytes with all its steps; at most "
                    + "\(ContractLimits.recipeBytesMax) are allowed. Send one that replaces it.")
        }
    }

    /// Reads the fields `filters`, `output` and `referenceSize`.
    init(_ value: JSONValue) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: "edit", known: ["filters", "output", "referenceSize"])
        let steps = try Edit.Steps(reader)
        try self.init(
            filters: steps.filters, referenceSize: steps.referenceSize,
            output: try reader.optional("output").map(Output.init) ?? Output())
    }

    /// The canonical JSON, with every parameter by its full name.
    public var json: JSONValue {
        var fields: [String: JSONValue] = [
            "filters": .array(filters.map(\.json)), "output": output.json,
        ]
        fields["referenceSize"] = referenceSize?.json
        return .object(fields)
    }

    /// SHA-256 of the canonical JSON, in hex: equal for equivalent recipes.
    public var digest: String { json.digest }
}

extension Recipe: Codable {
    public init(from decoder: any Decoder) throws { try self.init(JSONValue(from: decoder)) }
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
