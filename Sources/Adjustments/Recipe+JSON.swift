extension Recipe {
    /// Reads the JSON that a producer sent.
    ///
    /// - Throws: the first thing that is wrong with it, named by its path.
    public init(json text: String) throws(Failure) {
        try self.init(JSONValue(edit: text))
    }

    /// Reads the JSON that a version recorded.
    ///
    /// - Throws: what is wrong with it; it may be longer than an edit, by ``ContractLimits/recipeBytesMax``.
    public init(recorded text: String) throws(Failure) {
        try Self.checkLength(text)
        try self.init(JSONValue(parsing: text, as: "recipe"))
    }

    /// Refuses a recipe that could not be recorded.
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

    /// The canonical JSON: every parameter spelled out by its full name.
    public var json: JSONValue {
        var fields: [String: JSONValue] = [
            "filters": .array(filters.map(\.json)), "output": output.json,
        ]
        fields["referenceSize"] = referenceSize?.json
        return .object(fields)
    }

    /// SHA-256 of the canonical JSON, in hex: two recipes that do the same have the same one.
    public var digest: String { json.digest }
}

extension Recipe: Codable {
    public init(from decoder: any Decoder) throws { try self.init(JSONValue(from: decoder)) }
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
