import Operations

/// A setting, declared once: its names, its range, its default and its purpose.
///
/// The setting `render.timeout` is the flag `--render-timeout`, the environment variable `MINILAB_RENDER_TIMEOUT` and
/// the field `render.timeout` (or `{"render": {"timeout": …}}`) of the settings file, in this order of priority. All
/// settings are declared in ``Settings``; the flags, their help, the errors and `--list-settings` are generated from
/// there.
package struct Setting<Value: Sendable>: Sendable {
    /// The key.
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

    /// The name of the environment variable.
    package var variable: String { SettingsSource.variable(key) }

    /// Returns `limit-movie-frames` for `limit.movieFrames`.
    private static func flag(_ key: String) -> String {
        key.map { $0 == "." ? "-" : $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
    }
}

/// All settings, with one file per subject.
package enum Settings {}
