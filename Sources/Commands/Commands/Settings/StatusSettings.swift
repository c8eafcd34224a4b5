/// The settings of a worker's status port.
struct StatusSettings: Sendable {
    /// The address of this machine on which the port listens.
    let host: String
    /// The port; nil for none, 0 for any free one.
    let port: Int?

    /// Reads the settings. By default there is no port, and a port listens on the loopback address only.
    init(_ reader: inout SettingsReader) {
        host = reader.value(Settings.statusAddress)
        port = reader.optional(Settings.statusPort)
    }
}
