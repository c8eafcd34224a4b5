/// Whether a worker has a status port, and where.
struct StatusSettings: Sendable {
    /// An address of this machine.
    let host: String
    /// nil: no port is opened; 0: any free one.
    let port: Int?

    /// Reads it; without a port there is none, and alone this machine can ask unless told otherwise.
    init(_ reader: inout SettingsReader) {
        host = reader.value(
            .text("status.address", "an address of this machine", default: "127.0.0.1"), or: "")
        port = reader.optional(.number("status.port", 0...65535))
    }
}
