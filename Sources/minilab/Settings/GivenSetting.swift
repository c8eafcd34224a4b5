package import ArgumentParser

/// A setting as the command line says it.
package struct GivenSetting: Sendable, Codable {
    package let key: String
    package let flag: String
    package let text: String

    /// - Parameter text: as it would be written.
    package init<Value>(_ setting: Setting<Value>, _ text: String) {
        key = setting.key
        flag = setting.flag
        self.text = text
    }

    /// The flags of a command, or of a group of flags, that are settings and were given.
    ///
    /// They are found by reflection, as the argument parser finds them: a flag that is declared cannot be left out.
    package static func all(in flags: some ParsableArguments) -> [GivenSetting] {
        Mirror(reflecting: flags).children.compactMap {
            ($0.value as? Option<GivenSetting?>)?.wrappedValue
        }
    }
}

extension Option where Value == GivenSetting? {
    /// A flag that says a setting; its name and its help are the setting's.
    ///
    /// - Parameters:
    ///   - usual: words for the default, where a command has another one.
    ///   - condition: words that come before the help, where the flag goes with another one.
    package init<T>(
        _ setting: Setting<T>, default usual: String? = nil, before condition: String? = nil
    ) {
        let usual = (usual ?? setting.usualText).map { " (default: \($0))." } ?? "."
        self.init(
            name: .customLong(setting.flag),
            help: ArgumentHelp(
                "\(condition.map { $0 + ": " } ?? "")\(setting.help)\(usual)",
                valueName: setting.syntax.placeholder ?? setting.flag),
            transform: { GivenSetting(setting, $0) })
    }
}

extension ArgumentHelp {
    /// Of the flag `--list-settings`.
    package static let listSettings = ArgumentHelp(
        "Print each setting with its variable, range, default and what says its value now, and do nothing else."
    )
}
