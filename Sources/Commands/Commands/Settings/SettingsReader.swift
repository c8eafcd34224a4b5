import Edits

/// A reader of settings that collects all faults, so that they are reported together.
package struct SettingsReader {
    private let source: SettingsSource
    private var known: [String: SettingEntry] = [:]
    private var problems: [String] = []

    package init(_ source: SettingsSource) { self.source = source }

    /// Returns the value of a setting, or its default. Returns nil only if there is no default, or if the value is
    /// invalid: then ``finish()`` throws.
    package mutating func optional<Value>(_ setting: Setting<Value>) -> Value? {
        let found = source.lookUp(setting.key)
        known[setting.key] = SettingEntry(setting, current: found)
        guard let found else { return setting.defaultValue }
        do {
            if let value = try setting.syntax.parse(found.text) { return value }
            problems.append(
                "\(setting.key) = \(found.text.debugDescription) (from \(found.origin)): "
                    + "expected \(setting.syntax.expected)")
        } catch {
            // Such an error contains the value only if it may be shown.
            problems.append("\(setting.key) (from \(found.origin)): \(error)")
        }
        return nil
    }

    /// Returns the value of a setting with a default. The default also replaces an invalid value until ``finish()``
    /// throws.
    package mutating func value<Value>(_ setting: Setting<Value>) -> Value {
        guard let defaultValue = setting.defaultValue else {
            preconditionFailure("\(setting.key) has no default")
        }
        return optional(setting) ?? defaultValue
    }

    /// Returns the value of a required setting.
    ///
    /// - Parameter stand: replaces an invalid or missing value until ``finish()`` throws.
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

    /// Returns whether a setting's value is set; ``finish()`` reports an invalid one.
    mutating func isSet<Value>(_ setting: Setting<Value>) -> Bool {
        _ = optional(setting)
        return source.lookUp(setting.key) != nil
    }

    /// Returns whether a setting is set on the command line.
    func isFlag(_ key: String) -> Bool { source.isFlag(key) }

    /// The environment variables.
    var environment: [String: String] { source.environment }

    /// Adds a fault that involves several settings.
    package mutating func refuse(_ problem: String) { problems.append(problem) }

    /// Records which settings `body` reads, without validating them, because another program uses them.
    package mutating func passOver(_ body: (inout SettingsReader) -> Void) {
        let before = self
        body(&self)
        problems = before.problems
        for (key, entry) in known where before.known[key] == nil {
            known[key] = entry.ofAnotherProgram
        }
    }

    /// The settings that were read, as text for `--list-settings`.
    package var list: String {
        known.values.filter(\.isOwn).sorted { $0.key < $1.key }
            .map { $0.text + "\n" }.joined(separator: "\n")
    }

    /// Completes the reading.
    ///
    /// - Throws: all faults, including unknown keys of the file.
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

/// All faults of the settings.
package struct SettingsError: Error, CustomStringConvertible {
    let problems: [String]

    package var description: String {
        (problems.count == 1 ? "a setting is wrong:" : "\(problems.count) settings are wrong:")
            + problems.map { "\n  - " + $0 }.joined()
    }
}
