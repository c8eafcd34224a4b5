package import ArgumentParser
import Operations

/// A setting, declared once: its names, its range, its default and its purpose.
///
/// The setting `render.timeout` is the flag `--render-timeout`, the environment variable `MINILAB_RENDER_TIMEOUT` and
/// the field `render.timeout` (or `{"render": {"timeout": …}}`) of the settings file, in this order of priority. All
/// settings are declared in ``Settings``; the flags, their help, the errors and `--list-settings` are generated from
/// there.
package struct Setting<Value: Sendable>: Sendable {
    package let key: String
    /// The flag without its dashes; not all commands have it.
    package let flag: String
    /// A sentence for the help, without the default.
    package let help: String
    /// The written form of the value, and the allowed values.
    package let syntax: ValueSyntax<Value>
    /// The default value; nil if there is none.
    package let defaultValue: Value?
    /// The default in written form, or in words; nil if the setting is required.
    package let defaultText: String?
    /// Whether a value may contain a password, so that it is not shown.
    package let hidesValue: Bool

    /// - Parameters:
    ///   - flag: the flag, if it differs from the key with dashes.
    ///   - defaultText: the text of a default that depends on the machine, or of no value.
    package init(
        _ key: String, flag: String? = nil, _ syntax: ValueSyntax<Value>,
        default defaultValue: Value? = nil, _ defaultText: String? = nil, hidesValue: Bool = false,
        help: String
    ) {
        self.key = key
        self.flag = flag ?? Self.flag(key)
        self.help = help
        self.syntax = syntax
        self.defaultValue = defaultValue
        self.defaultText = defaultText ?? defaultValue.map(syntax.write)
        self.hidesValue = hidesValue
    }

    package var variable: String { SettingsSource.variable(key) }

    /// Returns `limit-movie-frames` for `limit.movieFrames`.
    private static func flag(_ key: String) -> String {
        key.map { $0 == "." ? "-" : $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
    }
}

package enum Settings {}

package struct ValueSyntax<Value: Sendable>: Sendable {
    /// The allowed values, for errors: `a duration such as 30s, from 1s to 1h`.
    package let expected: String
    /// A placeholder for the value in the help.
    package let placeholder: String?
    /// The parser of a value. It returns nil if the value is not allowed, or throws an error with details.
    package let parse: @Sendable (String) throws -> Value?
    /// The formatter of a value for the help.
    package let write: @Sendable (Value) -> String

    package init(
        _ expected: String, placeholder: String? = nil,
        write: @escaping @Sendable (Value) -> String = { "\($0)" },
        parse: @escaping @Sendable (String) throws -> Value?
    ) {
        self.expected = expected
        self.placeholder = placeholder
        self.write = write
        self.parse = parse
    }
}

extension ValueSyntax where Value == Int {
    package static func number(_ range: ClosedRange<Int>) -> Self {
        Self("a whole number from \(range.lowerBound) to \(range.upperBound)") {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Returns the syntax of a number of bytes such as `512M`; the units are powers of 1024.
    package static func bytes(_ range: ClosedRange<Int>) -> Self {
        Self(
            "a size such as 512M or 2G, from \(written(range.lowerBound)) to \(written(range.upperBound))",
            write: { written($0) },
            parse: { text in
                let units = ["K": 10, "M": 20, "G": 30]
                let unit = text.last.flatMap { units[$0.uppercased()] }
                guard let number = Int(unit == nil ? text[...] : text.dropLast()), number >= 0,
                    number <= range.upperBound >> (unit ?? 0)
                else { return nil }
                let bytes = number << (unit ?? 0)
                return range.contains(bytes) ? bytes : nil
            })
    }

    /// Returns a number of bytes in the largest unit without a remainder.
    static func written(_ bytes: Int) -> String {
        let units = [(30, "G"), (20, "M"), (10, "K")]
        let unit = units.first { bytes > 0 && bytes % (1 << $0.0) == 0 }
        return unit.map { "\(bytes >> $0.0)\($0.1)" } ?? "\(bytes)"
    }
}

extension ValueSyntax where Value == Duration {
    package static func duration(_ range: ClosedRange<Duration>) -> Self {
        Self(
            "a duration such as 500ms, 30s, 5m or 24h, from \(range.lowerBound.written) to "
                + range.upperBound.written,
            write: { $0.written },
            parse: { text in
                guard let duration = Duration(written: text) else { return nil }
                return range.contains(duration) ? duration : nil
            })
    }
}

extension ValueSyntax where Value == Bool {
    package static var truth: Self {
        Self("true or false", placeholder: "true|false") {
            $0 == "true" ? true : $0 == "false" ? false : nil
        }
    }
}

extension ValueSyntax where Value == String {
    package static func text(_ expected: String, placeholder: String? = nil) -> Self {
        Self(expected, placeholder: placeholder) { $0.isEmpty ? nil : $0 }
    }
}

extension ValueSyntax where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    package static var choice: Self {
        let names = Value.allCases.map(\.rawValue)
        return Self(
            "one of " + names.joined(separator: ", "), placeholder: names.joined(separator: "|"),
            write: { $0.rawValue }, parse: { Value(rawValue: $0) })
    }
}

package struct FlagValue: Sendable, Codable {
    package let key: String
    package let flag: String
    package let text: String

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
