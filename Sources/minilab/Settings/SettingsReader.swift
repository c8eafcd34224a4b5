import Adjustments

/// Reads settings and collects everything that is wrong, so that it is told at once.
package struct SettingsReader {
    private let source: SettingsSource
    private var known: [String: SettingEntry] = [:]
    private var problems: [String] = []

    package init(_ source: SettingsSource) { self.source = source }

    /// The value of a setting; its default when nobody says. nil only when there is no default, or
    /// when the value is wrong: ``finish()`` throws then.
    package mutating func optional<Value>(_ setting: Setting<Value>) -> Value? {
        let found = source.lookUp(setting.key)
        known[setting.key] = SettingEntry(setting, said: found)
        guard let found else { return setting.usual }
        do {
            if let value = try setting.syntax.parse(found.text) { return value }
            problems.append(
                "\(setting.key) = \(found.text.debugDescription) (from \(found.origin)): "
                    + "expected \(setting.syntax.expected)")
        } catch {
            // Such an error shows the value as far as it may be shown.
            problems.append("\(setting.key) (from \(found.origin)): \(error)")
        }
        return nil
    }

    /// The value of a setting that has a default; the default also stands in for a wrong value until ``finish()`` throws.
    package mutating func value<Value>(_ setting: Setting<Value>) -> Value {
        guard let usual = setting.usual else {
            preconditionFailure("\(setting.key) has no default")
        }
        return optional(setting) ?? usual
    }

    /// The value of a setting that has to be said.
    ///
    /// - Parameter stand: stands in for a wrong or missing value until ``finish()`` throws.
    package mutating func value<Value>(
        _ setting: Setting<Value>, or stand: @autoclosure () -> Value
    ) -> Value {
        let before = problems.count
        if let value = optional(setting) { return value }
        if problems.count == before {
            problems.append(
                "\(setting.key) is not set: give --\(setting.flag), \(setting.variable) or the settings file; "
                    + "expected \(setting.syntax.expected)")
        }
        return stand()
    }

    /// Whether somebody says a setting's value; a wrong one is told by ``finish()``.
    mutating func isSaid<Value>(_ setting: Setting<Value>) -> Bool {
        _ = optional(setting)
        return source.lookUp(setting.key) != nil
    }

    /// Whether a setting comes from the command line.
    func isFlag(_ key: String) -> Bool { source.isFlag(key) }

    /// The environment in which settings are looked up.
    var environment: [String: String] { source.environment }

    /// Adds a problem that no one setting has alone.
    package mutating func refuse(_ problem: String) { problems.append(problem) }

    /// Learns which settings `body` reads, and does not care whether they are right: another program uses them.
    package mutating func passOver(_ body: (inout SettingsReader) -> Void) {
        let before = self
        body(&self)
        problems = before.problems
        for (key, entry) in known where before.known[key] == nil {
            known[key] = entry.ofAnotherProgram
        }
    }

    /// The settings that were read, for `--list-settings`.
    package var list: String {
        known.values.filter(\.isOwn).sorted { $0.key < $1.key }
            .map { $0.text + "\n" }.joined(separator: "\n")
    }

    /// Ends the reading.
    ///
    /// - Throws: everything that was wrong, keys of the file that nobody knows included.
    package func finish() throws(SettingsError) {
        let unknown = source.file.keys.filter { known[$0] == nil }.sorted().map {
            "\($0) (from \(source.fileName)) is not a setting; known: "
                + known.keys.sorted().joined(separator: ", ")
        }
        guard problems.isEmpty, unknown.isEmpty else {
            throw SettingsError(problems: problems + unknown)
        }
    }
}

/// All wrong settings at once.
package struct SettingsError: Error, CustomStringConvertible {
    let problems: [String]

    package var description: String {
        (problems.count == 1 ? "a setting is wrong:" : "\(problems.count) settings are wrong:")
            + problems.map { "\n  - " + $0 }.joined()
    }
}
