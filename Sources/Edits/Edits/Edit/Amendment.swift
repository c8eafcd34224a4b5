/// A change to one step of a recipe.
public struct Amendment: Sendable, Equatable {
    /// The step.
    public let step: Step
    /// The change to the step.
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

    /// A change to a step.
    public enum Change: Sendable, Equatable {
        /// Sets these parameters and keeps the others; null restores the default.
        case set([String: JSONValue])
        /// Removes the step.
        case remove
    }

    /// Makes an amendment.
    public init(step: Step, change: Change) {
        self.step = step
        self.change = change
    }
}

extension Recipe {
    /// Returns the recipe with steps changed or removed.
    ///
    /// Indices and names refer to the steps before all amendments, so the order of the amendments does not matter.
    ///
    /// - Throws: `noSuchStep`; `invalidValue` if a step is amended twice; errors of invalid parameters.
    public func amended(by amendments: [Amendment]) throws(Failure) -> Recipe {
        var steps: [Filter?] = filters
        var amended: Set<Int> = []
        for (number, amendment) in amendments.enumerated() {
            let path = "edit.changes[\(number)]"
            let index = try index(of: amendment.step, at: path)
            guard amended.insert(index).inserted else {
                throw Failure(
                    .invalidValue,
                    "\(path).step is \(amendment.step.description), which another change names already; "
                        + "give all changes of a step in one.")
            }
            switch amendment.change {
            case .remove: steps[index] = nil
            case .set(let values):
                steps[index] = try filters[index].setting(values, at: "\(path).set")
            }
        }
        return try Recipe(
            filters: steps.compactMap { $0 }, referenceSize: referenceSize, output: output)
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
        _ values: [String: JSONValue], at path: String
    ) throws(Failure) -> Filter {
        guard case .object(var fields) = json else { return self }
        for (name, value) in values {
            guard let parameter = definition.parameters.first(where: { $0.names.contains(name) })
            else { throw Self.unknownParameter(name, of: definition, at: path) }
            fields[parameter.name] = value == .null ? nil : value
        }
        return try Filter(.object(fields), at: path)
    }
}
