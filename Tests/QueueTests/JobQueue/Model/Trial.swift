import Redis

/// One sequence of commands, given to the model and to the scripts.
struct Trial: Sendable {
    let redis: RedisClient
    let rules: QueueRules
    var replacement: RedisScript?
    /// Restarts Redis before some commands, by their place in the sequence. Returns whether it did.
    var restart: (@Sendable (_ before: Int) async throws -> Bool)?

    /// Where the scripts first differ from the model, or what the model finds wrong; nil when all is well.
    func difference(_ commands: [QueueCommand]) async throws -> String? {
        var model = QueueModel(rules: rules)
        var real = try RealQueue(redis: redis, rules: rules, replacement: replacement)
        var difference: String?
        for (index, command) in commands.enumerated() where difference == nil {
            if try await restart?(index) == true { model.serverRestarts() }
            let expected = model.apply(command)
            let answer = try await real.apply(command)
            if answer != expected {
                difference = "command \(index + 1) answers \(answer), expected \(expected)"
            } else if let miscount = try await real.miscount() {
                difference = "after command \(index + 1) running is wrong by \(miscount)"
            } else if let violation = model.violations.first {
                difference = "after command \(index + 1): \(violation)"
            }
        }
        // Leases that a clock was set behind are due by the next look of a script alone.
        let isSet = commands.contains { if case .clockSteps = $0 { true } else { false } }
        if difference == nil, !isSet {
            let due = try await real.overdue()
            if due != model.overdue { difference = "in the end \(due), expected \(model.overdue)" }
        }
        let contents = try await real.takeContents()
        return difference ?? Self.difference(contents, model.lines)
    }

    private static func difference(_ contents: [String], _ expected: [String]) -> String? {
        let (held, right) = (Set(contents), Set(expected))
        guard held != right else { return nil }
        let more = held.subtracting(right).sorted().map { "\n  has      \($0)" }
        let less = right.subtracting(held).sorted().map { "\n  lacks    \($0)" }
        return "in the end Redis" + (more + less).joined()
    }

    /// What a failing sequence comes down to.
    struct Failure: Sendable, CustomStringConvertible {
        let rules: QueueRules
        /// The smallest part of it that still fails.
        let commands: [QueueCommand]
        let difference: String

        var description: String {
            let steps = commands.enumerated().map { "\n  \($0 + 1). \($1)" }.joined()
            return "\(rules)\(steps)\n\(difference)"
        }
    }

    /// Why a sequence fails; nil when it does not.
    func failure(of commands: [QueueCommand]) async throws -> Failure? {
        guard try await difference(commands) != nil else { return nil }
        let least = try await Shrinker { part in
            var model = QueueModel(rules: rules)
            for command in part { _ = model.apply(command) }
            // Without the first of its members a stream would begin with a later one.
            guard !model.hasSkippedNumbers else { return false }
            return try await difference(part) != nil
        }.shrink(commands)
        return Failure(
            rules: rules, commands: least,
            difference: try await difference(least) ?? "It passes when it is repeated.")
    }
}
