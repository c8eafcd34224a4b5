import FoundationEssentials

/// The change that a job makes to its asset (`jobs/edit.schema.json`).
///
/// Every mode creates a new version, unless there is nothing to do. No mode changes the original or an older version.
public struct Edit: Sendable, Equatable {
    /// The operation.
    public let mode: Mode
    /// The output settings as they were sent; nil for those of the last edit, or the defaults. See ``output(after:)``.
    public let output: Recipe.Output?
    /// Whether the output settings say which metadata are removed; that it is none, only where it changes the result.
    public let statesStrip: Bool
    /// The renditions that are made beside the render.
    public let renditions: Renditions
    /// Whether the version is only prepared, so that it can be published or discarded later.
    public let isDraft: Bool
    /// Whether the renditions of the version that retention has removed, or that are missing, are made again.
    public let remakes: Bool
    /// The values of the asset for placeholders. They come beside an edit and not within it, and its JSON has none of them.
    public var fields: AssetFields?

    public enum Mode: Sendable, Equatable {
        /// Replaces the filters of the last edit.
        case replace(Steps)
        /// Appends filters to those of the last edit.
        case append(Steps)
        /// Changes or removes steps of the last edit.
        case amend([Amendment])
        /// Makes the original current again.
        case revert
        /// Restores the version from before the last edit.
        case undo
        /// Restores the version that the last undo removed.
        case redo
        /// Replaces the last edit with the edit of another asset.
        case copyEdit(EditSource)
        /// Renders the last edit again, with a new engine or another output.
        case render
        /// Replaces the last edit with an edit from another editor.
        case `import`(Import)
        /// Makes renditions of a version, and no version; `version` selects it, or nil the current one.
        case renditions(version: String?)
        /// Makes the draft current; `version` selects it.
        case publish(version: String?)
        /// Removes the draft; `version` selects it.
        case discard(version: String?)

        /// The mode's name in the contract.
        public var name: Name {
            switch self {
            case .replace: .replace
            case .append: .append
            case .amend: .amend
            case .revert: .revert
            case .undo: .undo
            case .redo: .redo
            case .copyEdit: .copyEdit
            case .render: .render
            case .import: .import
            case .renditions: .renditions
            case .publish: .publish
            case .discard: .discard
            }
        }
    }

    /// The modes' names in the contract.
    public enum Name: String, Sendable, Codable, CaseIterable {
        case replace, append, amend, revert, undo, redo, copyEdit, render, `import`, renditions,
            publish, discard

        /// Whether it produces a render that can be a draft.
        public var canBeDraft: Bool {
            switch self {
            case .replace, .append, .amend, .copyEdit, .render: true
            case .revert, .undo, .redo, .import, .renditions, .publish, .discard: false
            }
        }

        /// Whether it can make the renditions of a version again.
        var canRemake: Bool {
            switch self {
            case .undo, .redo, .renditions: true
            case .replace, .append, .amend, .revert, .copyEdit, .render, .import, .publish,
                .discard:
                false
            }
        }

        /// Whether metadata stay removed that the edit on which it builds has removed.
        var keepsStrip: Bool {
            switch self {
            case .append, .amend, .copyEdit, .render, .import: true
            case .replace, .revert, .undo, .redo, .renditions, .publish, .discard: false
            }
        }

        /// Whether the result depends on the last edit's adjustment data.
        public var buildsOnLastEdit: Bool {
            switch self {
            case .replace, .append, .amend, .copyEdit, .render: true
            case .revert, .undo, .redo, .import, .renditions, .publish, .discard: false
            }
        }
    }

    /// Filters to apply.
    public struct Steps: Sendable, Equatable {
        /// The filters in order; may be empty.
        public let filters: [Filter]
        /// Size of the upright preview on which they were chosen, or nil if lengths count full-size pixels.
        public let referenceSize: PixelSize?

        public init(_ filters: [Filter], referenceSize: PixelSize? = nil) {
            self.filters = filters
            self.referenceSize = referenceSize
        }
    }

    /// The edit of another asset.
    public struct EditSource: Sendable, Equatable {
        public let asset: AssetPath
        /// One of its versions, or nil for the current one.
        public let version: String?

        public init(asset: AssetPath, version: String? = nil) {
            self.asset = asset
            self.version = version
        }
    }

    public struct Import: Sendable, Equatable {
        /// The location of its adjustment data.
        public let adjustment: Adjustment
        /// The photo that the other editor rendered, below the originals; nil if Minilab renders it.
        public let render: AssetPath?

        /// The location of adjustment data.
        public enum Adjustment: Sendable, Equatable {
            /// In an `.AAE` file below the originals.
            case sidecar(AssetPath)
            /// In the job itself.
            case inline(AdjustmentData)
        }

        public init(adjustment: Adjustment, render: AssetPath? = nil) {
            self.adjustment = adjustment
            self.render = render
        }
    }

    /// - Parameter statesStrip: whether the output settings say that no metadata are removed; those that remove some always say it.
    public init(
        _ mode: Mode, output: Recipe.Output? = nil, renditions: Renditions = Renditions(),
        isDraft: Bool = false, remakes: Bool = false, statesStrip: Bool = false
    ) {
        self.mode = mode
        self.output = output
        self.statesStrip =
            output.map { $0.strip != .none || statesStrip && mode.name.keepsStrip } ?? false
        self.renditions = renditions
        self.isDraft = isDraft
        self.remakes = remakes
    }

    /// Creates the edit that replaces the last edit with a recipe.
    public init(_ recipe: Recipe) {
        self.init(
            .replace(Steps(recipe.filters, referenceSize: recipe.referenceSize)),
            output: recipe.output)
    }

    /// Returns the output settings of a result that builds on an edit.
    ///
    /// Settings that are sent take the place of all others, but metadata that were removed stay removed until the settings say which are:
    /// who asks once, and then for another format, believes that the place is nowhere.
    ///
    /// - Parameter last: the settings of that edit.
    public func output(after last: Recipe.Output) -> Recipe.Output {
        guard var output else { return last }
        guard !statesStrip, last.strip != .none else { return output }
        output.strip = last.strip
        output.keepsRights = output.keepsRights || last.keepsRights
        return output
    }
}

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
        let renditions = try reader.optional("renditions").map { value throws(Failure) in
            try Renditions(value, at: "edit.renditions")
        }
        let remakes = name.canRemake ? try reader.flag("remake") : false
        if case .renditions = mode, renditions?.isEmpty ?? true, !remakes {
            throw Failure(
                .missingField,
                "edit.renditions is missing or empty; the mode renditions makes at least one, or with remake: true those "
                    + "that the version had.")
        }
        self.init(
            mode, output: output, renditions: renditions ?? Renditions(),
            isDraft: name.canBeDraft ? try reader.flag("draft") : false, remakes: remakes,
            statesStrip: Self.statesStrip(reader.optional("output")))
    }

    private static func statesStrip(_ output: JSONValue?) -> Bool {
        guard case .object(let fields)? = output else { return false }
        return fields[Self.strip] != nil
    }

    private static let strip = "strip"

    /// Returns the fields that an edit of a mode may have, sorted.
    public static func fields(of name: Name) -> [String] {
        let own: [String] =
            switch name {
            case .replace, .append:
                ["draft", "filters", "output", "referenceSize", "renditions", "units"]
            case .amend: ["changes", "draft", "output", "renditions"]
            case .copyEdit: ["draft", "from", "output", "renditions", "version"]
            case .render: ["draft", "output", "renditions"]
            case .import: ["adjustmentData", "output", "render", "renditions", "sidecar"]
            case .renditions: ["remake", "renditions", "version"]
            case .publish, .discard: ["version"]
            case .undo, .redo: ["remake"]
            case .revert: []
            }
        return (own + ["mode"]).sorted()
    }

    /// SHA-256 of the canonical JSON, and of the fields if there are any, in hex: equal for the same work on the same asset.
    public var digest: String {
        guard let fields else { return json.digest }
        return JSONValue.object([
            "edit": json, "fields": .string(JSONValue.string(fields.json).digest),
        ]).digest
    }

    /// The output settings, with a `strip` of none only where it is stated, so that digests of other edits stay as they were.
    private var outputJSON: JSONValue? {
        guard let output, case .object(var fields) = output.json else { return nil }
        if statesStrip, output.strip == .none {
            fields[Self.strip] = .string(output.strip.rawValue)
        }
        return .object(fields)
    }

    public var json: JSONValue {
        var fields = mode.json
        if mode.name != .replace { fields["mode"] = .string(mode.name.rawValue) }
        fields["output"] = outputJSON
        if !renditions.isEmpty { fields["renditions"] = renditions.json }
        if isDraft { fields["draft"] = .bool(true) }
        if remakes { fields["remake"] = .bool(true) }
        return .object(fields)
    }
}

extension Edit.Mode {
    init(_ name: Edit.Name, _ reader: JSONObjectReader) throws(Failure) {
        switch name {
        case .replace: self = .replace(try Edit.Steps(sent: reader))
        case .append: self = .append(try Edit.Steps(sent: reader))
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
        case .renditions: self = .renditions(version: try reader.text("version"))
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
        case .renditions(let version), .publish(let version), .discard(let version):
            return version.map { ["version": .string($0)] } ?? [:]
        }
    }
}

extension Edit.Steps {
    /// Reads the steps that a producer sent, whose lengths have one meaning: they are relative, or count pixels of a preview.
    init(sent reader: JSONObjectReader) throws(Failure) {
        try self.init(reader)
        guard referenceSize != nil else { return }
        let relative = filters.firstIndex(where: \.isRelative).map { "edit.filters[\($0)].units" }
        guard let path = reader.optional("units") == .string("relative") ? "edit.units" : relative
        else { return }
        throw Failure(
            .invalidValue,
            "\(path) is \"relative\", and edit.referenceSize is given, by which lengths are pixels of a preview; expected one "
                + "of both. Leave referenceSize out.")
    }

    init(_ reader: JSONObjectReader) throws(Failure) {
        let units: Units = try reader.choice("units") ?? .pixels
        var filters: [Filter] = []
        for (index, value) in try reader.array("filters").enumerated() {
            filters.append(try Filter(value, in: units, at: "edit.filters[\(index)]"))
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

    var json: [String: JSONValue] {
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
