import Edits
import FoundationEssentials

/// The sources of settings, by priority: flags, environment, file.
package struct SettingsSource {
    /// The flags, by key.
    private var flags: [String: FlagValue]
    /// The environment variables.
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

    /// Returns the environment variable of a setting.
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

    /// Returns whether a setting is set on the command line.
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
