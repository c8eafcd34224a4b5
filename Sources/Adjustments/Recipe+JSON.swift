extension Recipe {
    /// Reads the JSON that a producer sent.
    ///
    /// - Throws: the first thing that is wrong with it, named by its path.
    public init(json text: String) throws(Failure) {
        guard text.utf8.count <= ContractLimits.editBytesMax else {
            throw Failure(
                .oversizedField,
                "edit has \(text.utf8.count) bytes; at most \(ContractLimits.editBytesMax) "
                    + "are allowed.")
        }
        try self.init(JSONValue(parsing: text, as: "edit"))
    }

    init(_ value: JSONValue) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: "edit", known: ["filters", "output", "referenceSize"])
        var filters: [Filter] = []
        for (index, value) in try reader.array("filters").enumerated() {
            filters.append(try Filter(value, at: "edit.filters[\(index)]"))
        }
        try self.init(
            filters: filters,
            referenceSize: try reader.optional("referenceSize").map(Self.referenceSize),
            output: try reader.optional("output").map(Output.init) ?? Output())
    }

    private static func referenceSize(_ value: JSONValue) throws(Failure) -> PixelSize {
        guard case .array(let sides) = value, sides.count == 2,
            case .number(let width) = sides[0], case .number(let height) = sides[1],
            [width, height].allSatisfy({
                $0 >= 1 && $0 <= Double(ContractLimits.referenceSideMax) && $0 == $0.rounded()
            })
        else {
            throw Failure(
                .invalidValue,
                "edit.referenceSize is \(value.canonical); expected [width, height] in whole "
                    + "pixels, each 1 to \(ContractLimits.referenceSideMax).")
        }
        return PixelSize(width: Int(width), height: Int(height))
    }

    /// The canonical JSON: every parameter spelled out by its full name.
    public var json: JSONValue {
        var fields: [String: JSONValue] = [
            "filters": .array(filters.map(\.json)), "output": output.json,
        ]
        if let referenceSize {
            fields["referenceSize"] = .array([
                .number(Double(referenceSize.width)), .number(Double(referenceSize.height)),
            ])
        }
        return .object(fields)
    }

    /// SHA-256 of the canonical JSON, in hex: two recipes that do the same have the same one.
    public var digest: String { json.digest }
}

extension Recipe: Codable {
    public init(from decoder: any Decoder) throws { try self.init(JSONValue(from: decoder)) }
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}
