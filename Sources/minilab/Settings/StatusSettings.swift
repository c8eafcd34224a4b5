/// Whether a worker has a status port, and where.
struct StatusSettings: Sendable {
    /// An address of this machine.
    let host: String
    /// nil: no port is opened; 0: any free one.
    let port: Int?

    /// Reads it; without a port there is none, and alone this machine can ask unless told otherwise.
    init(_ reader: inout SettingsReader) {
        host = reader.value(Settings.statusAddress)
        port = reader.optional(Settings.statusPort)
    }
}
