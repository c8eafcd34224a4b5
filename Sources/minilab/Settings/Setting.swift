import Operations

/// One thing that can be set, declared once: its names, its range, its default and what it is for.
///
/// The setting `render.timeout` is the flag `--render-timeout`, the environment variable `MINILAB_RENDER_TIMEOUT` and the field
/// `render.timeout` (or `{"render": {"timeout": …}}`) of the settings file; they are asked in that order. All settings are
/// declared in ``Settings``; flags, their help, errors and `--list-settings` come from there.
package struct Setting<Value: Sendable>: Sendable {
    /// The key.
    package let key: String
    /// The flag, without its dashes; not every command has it.
    package let flag: String
    /// A sentence for the help, without the default.
    package let help: String
    /// How its value is written, and which values are allowed.
    package let syntax: ValueSyntax<Value>
    /// Its value when nobody says; nil when there is none.
    package let usual: Value?
    /// The same as it would be written, or in words; nil when it has to be said.
    package let usualText: String?
    /// Whether a value may have a password in it, so that it is not shown.
    package let hidesValue: Bool

    /// - Parameters:
    ///   - flag: when it is not the key with dashes.
    ///   - usualText: words for a default that depends on the machine, or that is nothing.
    package init(
        _ key: String, flag: String? = nil, _ syntax: ValueSyntax<Value>,
        default usual: Value? = nil, _ usualText: String? = nil, hidesValue: Bool = false,
        help: String
    ) {
        self.key = key
        self.flag = flag ?? Self.flag(key)
        self.help = help
        self.syntax = syntax
        self.usual = usual
        self.usualText = usualText ?? usual.map(syntax.write)
        self.hidesValue = hidesValue
    }

    /// The environment variable.
    package var variable: String { SettingsSource.variable(key) }

    /// `limit-movie-frames` for `limit.movieFrames`.
    private static func flag(_ key: String) -> String {
        key.map { $0 == "." ? "-" : $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
    }
}

/// All settings, by what they are about: a file each.
package enum Settings {}
