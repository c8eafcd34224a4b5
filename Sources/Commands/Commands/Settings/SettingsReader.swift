import Edits
import FoundationEssentials

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

    /// Returns whether a setting is set on the command line.
    func isFlag(_ key: String) -> Bool { source.isFlag(key) }

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

package struct SettingsError: Error, CustomStringConvertible {
    let problems: [String]

    package var description: String {
        (problems.count == 1 ? "a setting is wrong:" : "\(problems.count) settings are wrong:")
            + problems.map { "\n  - " + $0 }.joined()
    }
}

/// A setting that a program reads, as `--list-settings` shows it.
struct SettingEntry {
    let key: String
    /// Whether the program uses the setting; otherwise it only recognises its name.
    private(set) var isOwn = true
    private let help: String
    private let variable: String
    private let expected: String
    private let defaultText: String?
    private let current: (text: String, origin: String)?

    /// - Parameter current: the written value and its source; nil if it is not set.
    init<Value>(_ setting: Setting<Value>, current: (text: String, origin: String)?) {
        key = setting.key
        help = setting.help
        variable = setting.variable
        expected = setting.syntax.expected
        defaultText = setting.defaultText
        self.current = current.map { (setting.hidesValue ? "(not shown)" : $0.text, $0.origin) }
    }

    var ofAnotherProgram: SettingEntry {
        var entry = self
        entry.isOwn = false
        return entry
    }

    /// The names, purpose, range, default and current value, as text.
    var text: String {
        """
        \(key)  \(variable)
            \(help).
            Expected: \(expected). Default: \(defaultText ?? "none").
        """ + (current.map { "\n    Now: \($0.text) (from \($0.origin))." } ?? "")
    }
}

/// The sources of settings, by priority: flags, environment, file.
package struct SettingsSource {
    private var flags: [String: FlagValue]
    private(set) var environment: [String: String]
    /// The fields of the settings file, by key.
    private(set) var file: [String: String] = [:]
    /// The name of the file, for errors.
    private(set) var fileName = ""

    /// - Parameters:
    ///   - given: the flags.
    ///   - file: the settings file; nil for none.
    /// - Throws: the reason for which the file cannot be read.
    package init(
        _ given: [FlagValue] = [], file: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(SettingsError) {
        flags = Dictionary(given.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
        self.environment = environment
        if let file { try readFile(at: file) }
    }

    /// Returns the settings file that a flag names, else the one that the environment names.
    package static func file(_ named: String?) -> String? {
        named ?? ProcessInfo.processInfo.environment[variable("settings")]
    }

    static func variable(_ key: String) -> String {
        "MINILAB_"
            + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : $0 }.map(String.init).joined()
    }

    /// Returns the written value of a key and its source; nil if it is not set.
    func lookUp(_ key: String) -> (text: String, origin: String)? {
        if let given = flags[key] { return (given.text, "--\(given.flag)") }
        let variable = Self.variable(key)
        if let text = environment[variable] { return (text, variable) }
        if let text = file[key] { return (text, fileName) }
        return nil
    }

    func isFlag(_ key: String) -> Bool { flags[key] != nil }

    /// Removes the values of a key from environment and file.
    mutating func remove(_ key: String) {
        environment[Self.variable(key)] = nil
        file[key] = nil
    }

    /// Reads a settings file: a JSON object, nested or with dotted keys.
    private mutating func readFile(at path: String) throws(SettingsError) {
        fileName = path
        let text: String
        do {
            text = try readText(path, as: "the settings file")
        } catch {
            throw SettingsError(problems: ["\(error)"])
        }
        do {
            flatten(try JSONValue(parsing: text, as: path), under: "")
        } catch {
            throw SettingsError(problems: [error.message])
        }
    }

    private mutating func flatten(_ value: JSONValue, under key: String) {
        switch value {
        case .object(let fields):
            for (name, value) in fields {
                flatten(value, under: key.isEmpty ? name : "\(key).\(name)")
            }
        case .string(let text): file[key] = text
        case .null, .bool, .number, .array: file[key] = value.canonical
        }
    }
}
