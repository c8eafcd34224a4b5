import Adjustments
import FoundationEssentials

/// Where settings come from: flags before environment before file.
package struct SettingsSource {
    /// What flags say, by key.
    package var flags: [String: String] = [:]
    /// The environment.
    var environment: [String: String] = ProcessInfo.processInfo.environment
    /// What the settings file says, by key.
    var file: [String: String] = [:]
    /// The file's name, for errors.
    var fileName = ""

    package init() {}

    /// The written value of a key and where it stands; nil when nobody says.
    func lookUp(_ key: String) -> (text: String, origin: String)? {
        if let text = flags[key] { return (text, "--\(key.replacing(".", with: "-"))") }
        let variable = Setting<String>.variable(key)
        if let text = environment[variable] { return (text, variable) }
        if let text = file[key] { return (text, fileName) }
        return nil
    }

    /// Forgets what environment and file say of a key.
    mutating func forget(_ key: String) {
        environment[Setting<String>.variable(key)] = nil
        file[key] = nil
    }

    /// Reads a settings file: a JSON object, nested or with dotted keys.
    mutating func readFile(at path: String) throws(SettingsError) {
        fileName = path
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw SettingsError(problems: ["the settings file \(path) cannot be read: \(error)"])
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

/// Reads settings and collects everything that is wrong, so that it is told at once.
package struct SettingsReader {
    private let source: SettingsSource
    private var known: Set<String> = []
    private var problems: [String] = []

    package init(_ source: SettingsSource) { self.source = source }

    /// The value of a setting; its default when nobody says. nil only when there is no default, or
    /// when the value is wrong: ``finish()`` throws then.
    package mutating func optional<Value>(_ setting: Setting<Value>) -> Value? {
        known.insert(setting.key)
        let found = source.lookUp(setting.key)
        guard let text = found?.text ?? setting.defaultText else { return nil }
        let origin = found?.origin ?? "its default"
        do {
            if let value = try setting.parse(text) { return value }
            problems.append(
                "\(setting.key) = \(text.debugDescription) (from \(origin)): "
                    + "expected \(setting.expected)")
        } catch {
            // Such an error shows the value as far as it may be shown.
            problems.append("\(setting.key) (from \(origin)): \(error)")
        }
        return nil
    }

    /// The value of a setting that has a default, or that has to be said.
    ///
    /// - Parameter stand: stands in for a wrong or missing value until ``finish()`` throws.
    package mutating func value<Value>(
        _ setting: Setting<Value>, or stand: @autoclosure () -> Value
    )
        -> Value
    {
        let before = problems.count
        if let value = optional(setting) { return value }
        if problems.count == before {
            problems.append(
                "\(setting.key) is not set: give --\(setting.key.replacing(".", with: "-")), "
                    + "\(setting.variable) or the settings file; expected \(setting.expected)")
        }
        return stand()
    }

    /// Whether a setting comes from the command line.
    func isFlag(_ key: String) -> Bool { source.flags[key] != nil }

    /// The environment in which settings are looked up.
    var environment: [String: String] { source.environment }

    /// Adds a problem that no one setting has alone.
    package mutating func refuse(_ problem: String) { problems.append(problem) }

    /// Learns which settings `body` reads, and does not care whether they are right: another program uses them.
    package mutating func passOver(_ body: (inout SettingsReader) -> Void) {
        let before = problems
        body(&self)
        problems = before
    }

    /// Ends the reading.
    ///
    /// - Throws: everything that was wrong, keys of the file that nobody knows included.
    package func finish() throws(SettingsError) {
        let unknown = source.file.keys.filter { !known.contains($0) }.sorted().map {
            "\($0) (from \(source.fileName)) is not a setting; known: "
                + known.sorted().joined(separator: ", ")
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
