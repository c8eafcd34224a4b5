/// A setting that a program reads, as `--list-settings` shows it.
struct SettingEntry {
    let key: String
    /// Whether the program that reads it uses it; others only know its name.
    private(set) var isOwn = true
    private let help: String
    private let variable: String
    private let expected: String
    private let usual: String?
    private let said: (text: String, origin: String)?

    /// - Parameter said: its value as it is written, and where; nil when nobody says.
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

    /// Its names, its purpose, its range, its default, and the value that somebody says.
    var text: String {
        """
        \(key)  \(variable)
            \(help).
            Expected: \(expected). Default: \(usual ?? "none").
        """ + (said.map { "\n    Now: \($0.text) (from \($0.origin))." } ?? "")
    }
}
