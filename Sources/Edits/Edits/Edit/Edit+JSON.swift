extension Edit {
    /// Reads the JSON that a producer sent.
    ///
    /// - Throws: the first error in it, named by its path.
    public init(json text: String) throws(Failure) {
        try self.init(JSONValue(edit: text))
    }

    init(_ value: JSONValue) throws(Failure) {
        guard case .object(let fields) = value else {
            throw Failure(.invalidValue, "edit is \(value.kind); expected an object.")
        }
        let open = try JSONObjectReader(value, at: "edit", known: Array(fields.keys))
        let name: Name = try open.choice("mode") ?? .replace
        let reader = try JSONObjectReader(value, at: "edit", known: Self.fields(of: name))
        let mode = try Mode(name, reader)
        let output = try reader.optional("output").map(Recipe.Output.init)
        if case .import(let source) = mode, source.render != nil, let output,
            output != Recipe.Output(previews: output.previews)
        {
            throw Failure(
                .invalidValue,
                "edit.output is \(output.json.canonical); an imported render is not encoded again, so only "
                    + "previews can be set.")
        }
        self.init(
            mode, output: output, isDraft: name.canBeDraft ? try reader.flag("draft") : false)
    }

    /// Returns the fields that an edit of a mode may have, sorted.
    public static func fields(of name: Name) -> [String] {
        let own: [String] =
            switch name {
            case .replace, .append: ["draft", "filters", "output", "referenceSize"]
            case .amend: ["changes", "draft", "output"]
            case .copyEdit: ["draft", "from", "output", "version"]
            case .render: ["draft", "output"]
            case .import: ["adjustmentData", "output", "render", "sidecar"]
            case .publish, .discard: ["version"]
            case .revert, .undo, .redo: []
            }
        return (own + ["mode"]).sorted()
    }

    /// The canonical JSON.
    public var json: JSONValue {
        var fields = mode.json
        if mode.name != .replace { fields["mode"] = .string(mode.name.rawValue) }
        fields["output"] = output?.json
        if isDraft { fields["draft"] = .bool(true) }
        return .object(fields)
    }
}

extension Edit.Mode {
    init(_ name: Edit.Name, _ reader: JSONObjectReader) throws(Failure) {
        switch name {
        case .replace: self = .replace(try Edit.Steps(reader))
        case .append: self = .append(try Edit.Steps(reader))
        case .amend: self = .amend(try Self.amendments(reader))
        case .revert: self = .revert
        case .undo: self = .undo
        case .redo: self = .redo
        case .copyEdit:
            self = .copyEdit(
                Edit.EditSource(
                    asset: try AssetPath(reader.string("from")),
                    version: try reader.text("version")))
        case .render: self = .render
        case .import: self = .import(try Edit.Import(reader))
        case .publish: self = .publish(version: try reader.text("version"))
        case .discard: self = .discard(version: try reader.text("version"))
        }
    }

    private static func amendments(_ reader: JSONObjectReader) throws(Failure) -> [Amendment] {
        let values = try reader.array("changes")
        guard (1...ContractLimits.changesMax).contains(values.count) else {
            throw Failure(
                .invalidValue,
                "edit.changes has \(values.count) changes; expected 1 to "
                    + "\(ContractLimits.changesMax).")
        }
        var amendments: [Amendment] = []
        for (index, value) in values.enumerated() {
            amendments.append(try Amendment(value, at: "edit.changes[\(index)]"))
        }
        return amendments
    }

    fileprivate var json: [String: JSONValue] {
        switch self {
        case .replace(let steps), .append(let steps):
            var fields: [String: JSONValue] = ["filters": .array(steps.filters.map(\.json))]
            fields["referenceSize"] = steps.referenceSize?.json
            return fields
        case .amend(let amendments): return ["changes": .array(amendments.map(\.json))]
        case .revert, .undo, .redo, .render: return [:]
        case .copyEdit(let source):
            var fields: [String: JSONValue] = ["from": .string(source.asset.string)]
            fields["version"] = source.version.map(JSONValue.string)
            return fields
        case .import(let source): return source.json
        case .publish(let version), .discard(let version):
            return version.map { ["version": .string($0)] } ?? [:]
        }
    }
}

extension Edit.Steps {
    init(_ reader: JSONObjectReader) throws(Failure) {
        var filters: [Filter] = []
        for (index, value) in try reader.array("filters").enumerated() {
            filters.append(try Filter(value, at: "edit.filters[\(index)]"))
        }
        try Recipe.check(filters)
        self.init(
            filters, referenceSize: try reader.optional("referenceSize").map(Self.referenceSize))
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
}

extension PixelSize {
    var json: JSONValue { .array([.number(Double(width)), .number(Double(height))]) }
}

extension JSONValue {
    /// Parses the text of an edit, within its limit.
    init(edit text: String) throws(Failure) {
        guard text.utf8.count <= ContractLimits.editBytesMax else {
            throw Failure(
                .oversizedField,
                "edit has \(text.utf8.count) bytes; at most \(ContractLimits.editBytesMax) "
                    + "are allowed.")
        }
        try self.init(parsing: text, as: "edit")
    }
}
