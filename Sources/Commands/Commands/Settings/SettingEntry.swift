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
