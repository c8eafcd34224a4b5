package import ArgumentParser

/// A setting on the command line.
package struct FlagValue: Sendable, Codable {
    package let key: String
    package let flag: String
    package let text: String

    /// - Parameter text: the value in its written form.
    package init<Value>(_ setting: Setting<Value>, _ text: String) {
        key = setting.key
        flag = setting.flag
        self.text = text
    }

    /// Returns the settings that the flags of a command, or of a group of flags, set.
    ///
    /// The flags are found by reflection, as the argument parser finds them, so no declared flag can be forgotten.
    package static func all(in flags: some ParsableArguments) -> [FlagValue] {
        Mirror(reflecting: flags).children.compactMap {
            ($0.value as? Option<FlagValue?>)?.wrappedValue
        }
    }
}

extension Option where Value == FlagValue? {
    /// Declares a flag for a setting, with the setting's name and help.
    ///
    /// - Parameters:
    ///   - defaultText: the text of the default, if the command has a different one.
    ///   - condition: text before the help, if the flag depends on another one.
    package init<T>(
        _ setting: Setting<T>, default defaultText: String? = nil, before condition: String? = nil
    ) {
        let ending = (defaultText ?? setting.defaultText).map { " (default: \($0))." } ?? "."
        self.init(
            name: .customLong(setting.flag),
            help: ArgumentHelp(
                "\(condition.map { $0 + ": " } ?? "")\(setting.help)\(ending)",
                valueName: setting.syntax.placeholder ?? setting.flag),
            transform: { FlagValue(setting, $0) })
    }
}

extension ArgumentHelp {
    /// The help of the flag `--list-settings`.
    package static let listSettings = ArgumentHelp(
        "Print each setting with its variable, range, default, value and the value's source, and do nothing else."
    )
}
