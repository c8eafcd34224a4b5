/// The difference between two recipes: steps added, removed and changed.
public struct RecipeComparison: Sendable, Equatable {
    /// The steps in the order of the new recipe, with removed ones at their old positions.
    public let steps: [Step]
    /// The fields of the output that differ.
    public let output: [Change]

    /// The change of a step; indices count from 0, as in amendments.
    public enum Step: Sendable, Equatable {
        /// The step is unchanged.
        case same(old: Int, new: Int, Filter)
        case changed(old: Int, new: Int, name: String, [Change])
        case removed(old: Int, Filter)
        case added(new: Int, Filter)
    }

    /// A value that differs; nil if there is none.
    public struct Change: Sendable, Equatable, Encodable {
        /// The parameter's or field's name.
        public let name: String
        public let old: JSONValue?
        public let new: JSONValue?
    }

    /// Whether both recipes are equivalent.
    public var isSame: Bool {
        output.isEmpty
            && steps.allSatisfy { if case .same = $0 { true } else { false } }
    }

    /// Compares two recipes.
    ///
    /// Steps with the same filter in the same order are matched: as many as possible, and among equal numbers of matches those with
    /// the most unchanged steps. A step that moved counts as removed and added.
    public init(from old: Recipe, to new: Recipe) {
        steps = Self.align(old.filters, new.filters)
        output = Self.changes(old.output.json, new.output.json)
    }

    private static func align(_ old: [Filter], _ new: [Filter]) -> [Step] {
        // Weighted longest common subsequence. There are at most 32 steps, so weights of 1 cannot outweigh one more pair.
        let pair = 64
        func weight(_ i: Int, _ j: Int) -> Int {
            old[i].name == new[j].name ? pair + (old[i] == new[j] ? 1 : 0) : 0
        }
        var best = [[Int]](
            repeating: [Int](repeating: 0, count: new.count + 1), count: old.count + 1)
        for i in old.indices.reversed() {
            for j in new.indices.reversed() {
                let matched = weight(i, j) > 0 ? weight(i, j) + best[i + 1][j + 1] : 0
                best[i][j] = max(matched, best[i + 1][j], best[i][j + 1])
            }
        }
        var steps: [Step] = []
        var (i, j) = (0, 0)
        while i < old.count || j < new.count {
            if i < old.count, j < new.count, weight(i, j) > 0,
                best[i][j] == weight(i, j) + best[i + 1][j + 1]
            {
                steps.append(
                    old[i] == new[j]
                        ? .same(old: i, new: j, new[j])
                        : .changed(
                            old: i, new: j, name: new[j].name,
                            changes(old[i].json, new[j].json)))
                (i, j) = (i + 1, j + 1)
            } else if i < old.count, best[i][j] == best[i + 1][j] {
                steps.append(.removed(old: i, old[i]))
                i += 1
            } else {
                steps.append(.added(new: j, new[j]))
                j += 1
            }
        }
        return steps
    }

    private static func changes(_ old: JSONValue, _ new: JSONValue) -> [Change] {
        guard case .object(let old) = old, case .object(let new) = new else { return [] }
        return Set(old.keys).union(new.keys).sorted().filter { old[$0] != new[$0] }
            .map { Change(name: $0, old: old[$0], new: new[$0]) }
    }
}

extension RecipeComparison {
    /// The comparison as text, a line each: `+` added, `-` removed, `~` changed.
    public var lines: [String] {
        var lines: [String] = []
        for step in steps {
            switch step {
            case .same(let old, let new, let filter):
                lines.append("  \(old == new ? "\(new)" : "\(old) → \(new)")  \(filter.name)")
            case .removed(let old, let filter):
                lines.append("- \(old)  \(filter.name)")
                lines += filter.parameterLines.map { "-      \($0)" }
            case .added(let new, let filter):
                lines.append("+ \(new)  \(filter.name)")
                lines += filter.parameterLines.map { "+      \($0)" }
            case .changed(let old, let new, let name, let changes):
                lines.append("~ \(old == new ? "\(new)" : "\(old) → \(new)")  \(name)")
                lines += changes.map { "~      \($0.text)" }
            }
        }
        lines += output.map { "~ output  \($0.text)" }
        return lines
    }
}

extension RecipeComparison.Change {
    fileprivate var text: String {
        "\(name) \(old?.text ?? "not said") → \(new?.text ?? "not said")"
    }
}

extension RecipeComparison.Step: Encodable {
    private enum Key: CodingKey { case step, old, new, name, filter, changes }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        switch self {
        case .same(let old, let new, let filter):
            try fields.encode("same", forKey: .step)
            try fields.encode(old, forKey: .old)
            try fields.encode(new, forKey: .new)
            try fields.encode(filter, forKey: .filter)
        case .changed(let old, let new, let name, let changes):
            try fields.encode("changed", forKey: .step)
            try fields.encode(old, forKey: .old)
            try fields.encode(new, forKey: .new)
            try fields.encode(name, forKey: .name)
            try fields.encode(changes, forKey: .changes)
        case .removed(let old, let filter):
            try fields.encode("removed", forKey: .step)
            try fields.encode(old, forKey: .old)
            try fields.encode(filter, forKey: .filter)
        case .added(let new, let filter):
            try fields.encode("added", forKey: .step)
            try fields.encode(new, forKey: .new)
            try fields.encode(filter, forKey: .filter)
        }
    }
}

extension RecipeComparison: Encodable {}
