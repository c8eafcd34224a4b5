/// A setting that a program reads, as `--list-settings` shows it.
struct SettingEntry {
    let key: String
    /// Whether the program uses the setting; otherwise it only recognises its name.
    private(set) var isOwn = true
    private let help: String
    private let variable: String
    private let expected: String
    private let usual: String?
    private let said: (text: String, origin: String)?

    /// - Parameter said: the written value and its source; nil if it is not set.
    init<Value>(_ setting: Setting<Value>, said: (text: String, origin: String)?) {
        key = setting.key
        help = setting.help
        variable = setting.variable
        expected = setting.syntax.expected
        usual = setting.usualText
        self.said = said.map { (setting.hidesValue ? "(not shown)" : $0.text, $0.origin) }
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
            Expected: \(expected). Default: \(usual ?? "none").
        """ + (said.map { "\n    Now: \($0.text) (from \($0.origin))." } ?? "")
    }
}
