import Logging
import Synchronization

/// The lines that a program logs.
final class RecordedLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    /// A logger whose lines come here.
    var logger: Logger {
        Logger(label: "test") { _ in Recorder { line in self.lines.withLock { $0.append(line) } } }
    }
}

/// Passes each line on.
private struct Recorder: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    let write: @Sendable (String) -> Void

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { write("\(event.message)") }
}
