/// A change to one step of a recipe.
public struct Amendment: Sendable, Equatable {
    public let step: Step
    public let change: Change

    /// A reference to a step of a recipe.
    public enum Step: Sendable, Equatable {
        /// By its index, from 0.
        case index(Int)
        /// By its filter's name, which only one step may have.
        case name(String)

        var description: String {
            switch self {
            case .index(let index): "\(index)"
            case .name(let name): name.debugDescription
            }
        }
    }

    public enum Change: Sendable, Equatable {
        /// Sets these parameters and keeps the others; null restores the default. The field `units` says what they count.
        case set([String: JSONValue])
        case remove
    }

    public init(step: Step, change: Change) {
        self.step = step
        self.change = change
    }
}

extension Recipe {
    /// Returns the recipe with steps changed or removed.
    ///
    /// Indices and names refer to the steps before all amendments, so the order of the amendments does not matter. Relative values
    /// count parts of the picture that the step gets after the amendments of earlier steps.
    ///
    /// - Parameter photo: the upright size of the photo whose pixels the recipe counts.
    /// - Throws: `noSuchStep`; `invalidValue` if a step is amended twice; errors of invalid parameters.
    public func amended(
        by amendments: [Amendment], of photo: PixelSize
    ) throws(Failure) -> Recipe {
        try Recipe(
            filters: amendedSteps(by: amendments, of: photo).compactMap { $0 },
            referenceSize: referenceSize, output: output)
    }

    /// Returns each step as it is amended; nil for one that is removed.
    ///
    /// - Throws: as ``amended(by:of:)``.
    public func amendedSteps(
        by amendments: [Amendment], of photo: PixelSize
    ) throws(Failure) -> [Filter?] {
        var changes: [Int: (change: Amendment.Change, path: String)] = [:]
        for (number, amendment) in amendments.enumerated() {
            let path = "edit.changes[\(number)]"
            let index = try index(of: amendment.step, at: path)
            guard changes[index] == nil else {
                throw Failure(
                    .invalidValue,
                    "\(path).step is \(amendment.step.description), which another change names already; "
                        + "give all changes of a step in one.")
            }
            changes[index] = (amendment.change, path)
        }
        var steps: [Filter?] = []
        var place = StepPlace(photo: photo, preview: nil)
        let needsPlace = amendments.contains(where: \.isRelative)
        for (index, filter) in filters.enumerated() {
            var step: Filter? = filter
            switch changes[index] {
            case nil: break
            case (.remove, _)?: step = nil
            case (.set(let values), let path)?:
                step = try filter.setting(values, place, at: "\(path).set")
            }
            steps.append(step)
            if let step, needsPlace { try place.pass(step) }
        }
        return steps
    }

    private func index(of step: Amendment.Step, at path: String) throws(Failure) -> Int {
        let steps = filters.enumerated().map { "\($0) \($1.name)" }.joined(separator: ", ")
        let there = filters.isEmpty ? "the edit has no steps" : "the edit has the steps \(steps)"
        switch step {
        case .index(let index):
            guard filters.indices.contains(index) else {
                throw Failure(.noSuchStep, "\(path).step is \(index); \(there).")
            }
            return index
        case .name(let name):
            let indices = filters.indices.filter { filters[$0].name == name }
            guard indices.count == 1 else {
                throw Failure(
                    .noSuchStep,
                    indices.isEmpty
                        ? "\(path).step is \(name.debugDescription); \(there)."
                        : "\(path).step is \(name.debugDescription), of which the edit has "
                            + "\(indices.count); name one by its place: \(steps).")
            }
            return indices[0]
        }
    }
}

extension Filter {
    fileprivate func setting(
        _ values: [String: JSONValue], _ place: StepPlace, at path: String
    ) throws(Failure) -> Filter {
        guard case .object(var fields) = json else { return self }
        let units = try values["units"].map { value throws(Failure) in
            try Units(value, at: "\(path).units")
        }
        if units == .relative { try Self.checkTakesRelative(definition, at: path) }
        for (name, value) in values where name != "units" {
            guard let parameter = definition.parameters.first(where: { $0.names.contains(name) })
            else { throw Self.unknownParameter(name, of: definition, at: path) }
            guard units == .relative else {
                fields[parameter.name] = value == .null ? nil : value
                continue
            }
            guard value != .null else {
                guard !parameter.hasLengths else {
                    throw Self.missingLength(parameter, of: definition, at: path)
                }
                fields[parameter.name] = nil
                continue
            }
            fields[parameter.name] = try inPixels(
                parameter.value(value, of: self.name, in: .relative, at: "\(path).\(name)"),
                of: parameter, .relative, place, at: path, "\(path).\(name)"
            ).json
        }
        return try Filter(.object(fields), in: .pixels, at: path)
    }
}

extension Amendment {
    /// Whether it sets relative values.
    fileprivate var isRelative: Bool {
        if case .set(let values) = change { values["units"] == .string("relative") } else { false }
    }
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
        case (.object(let values)?, false):
            if let units = values["units"] { _ = try Units(units, at: "\(path).set.units") }
            self.init(step: step, change: .set(values))
        case (nil, true): self.init(step: step, change: .remove)
        default:
            throw Failure(
                .invalidValue,
                "\(path) needs either set, an object of parameters, or remove: true.")
        }
    }

    var json: JSONValue {
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
