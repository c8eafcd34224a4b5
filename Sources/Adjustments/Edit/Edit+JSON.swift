import FoundationEssentials

extension Edit {
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
                "edit.output is \(output.json.canonical); a render that comes along stays as it is, so only "
                    + "previews can be asked for.")
        }
        self.init(
            mode, output: output, isDraft: name.canBeDraft ? try reader.flag("draft") : false)
    }

    /// The fields that an edit of a mode may have, sorted.
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

extension Amendment {
    init(_ value: JSONValue, at path: String) throws(Failure) {
        let reader = try JSONObjectReader(value, at: path, known: ["remove", "set", "step"])
        let step: Step
        switch try reader.value("step") {
        case .number(let number):
            guard let index = Int(exactly: number), index >= 0 else {
                throw Failure(
                    .invalidValue, "\(path).step is \(number); expected a whole number from 0.")
            }
            step = .index(index)
        case .string(let name): step = .name(name)
        case let other:
            throw Failure(
                .invalidValue, "\(path).step is \(other.kind); expected a step's place or its name."
            )
        }
        switch (reader.optional("set"), try reader.flag("remove")) {
        case (.object(let values)?, false): self.init(step: step, change: .set(values))
        case (nil, true): self.init(step: step, change: .remove)
        default:
            throw Failure(
                .invalidValue,
                "\(path) needs either set, an object of parameters, or remove: true.")
        }
    }

    fileprivate var json: JSONValue {
        var fields: [String: JSONValue] = [:]
        switch step {
        case .index(let index): fields["step"] = .number(Double(index))
        case .name(let name): fields["step"] = .string(name)
        }
        switch change {
        case .set(let values): fields["set"] = .object(values)
        case .remove: fields["remove"] = .bool(true)
        }
        return .object(fields)
    }
}

extension Edit.Import {
    init(_ reader: JSONObjectReader) throws(Failure) {
        let render = try reader.text("render").map { text throws(Failure) in try AssetPath(text) }
        switch (reader.optional("adjustmentData"), try reader.text("sidecar")) {
        case (let data?, nil):
            self.init(
                adjustment: .inline(try AdjustmentData(data, at: "edit.adjustmentData")),
                render: render)
        case (nil, let sidecar?):
            self.init(adjustment: .sidecar(try AssetPath(sidecar)), render: render)
        default:
            throw Failure(
                .invalidValue,
                "edit needs either sidecar, the path of an .AAE file below the originals, or "
                    + "adjustmentData.")
        }
    }

    fileprivate var json: [String: JSONValue] {
        var fields: [String: JSONValue] = [:]
        switch adjustment {
        case .sidecar(let path): fields["sidecar"] = .string(path.string)
        case .inline(let data): fields["adjustmentData"] = data.json
        }
        fields["render"] = render.map { .string($0.string) }
        return fields
    }
}

extension AdjustmentData {
    /// Reads the three fields of a `PHAdjustmentData`, `data` in Base64.
    init(_ value: JSONValue, at path: String) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: path, known: ["data", "formatIdentifier", "formatVersion"])
        guard let data = Data(base64Encoded: try reader.string("data")), !data.isEmpty else {
            throw Failure(
                .invalidValue, "\(path).data is empty or not Base64; expected the bytes in Base64.")
        }
        self.init(
            formatIdentifier: try reader.string("formatIdentifier"),
            formatVersion: try reader.string("formatVersion"), data: data)
    }

    fileprivate var json: JSONValue {
        .object([
            "formatIdentifier": .string(formatIdentifier), "formatVersion": .string(formatVersion),
            "data": .string(data.base64EncodedString()),
        ])
    }
}
