import FoundationEssentials
import Glibc
public import Logging
public import SystemPackage

/// Appends each log event as one line for people to a file.
public struct FileLogHandler: LogHandler {
    public var logLevel: Logger.Level = .info
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let file: CInt

    /// Returns a logger that appends to a file; the file stays open for the lifetime of the process.
    ///
    /// - Throws: `LogFileError` if the file cannot be opened or the level does not exist.
    public static func logger(
        writingTo path: FilePath, level: String, metadataProvider: Logger.MetadataProvider?
    ) throws -> Logger {
        guard let logLevel = Logger.Level(rawValue: level) else {
            throw LogFileError(
                description: "log level \(level.debugDescription) is unknown; known: "
                    + Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))
        }
        let file = open(path.string, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
        guard file >= 0 else {
            throw LogFileError(
                description: "the log \(path) cannot be opened: \(String(cString: strerror(errno)))"
            )
        }
        var logger = Logger(label: "minilab") { _ in
            var handler = FileLogHandler(file: file)
            handler.metadataProvider = metadataProvider
            return handler
        }
        logger.logLevel = logLevel
        return logger
    }

    private init(file: CInt) { self.file = file }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let bytes = Array((TextLogHandler.line(event, metadata, metadataProvider) + "\n").utf8)
        // A failed write to the log must not stop the work.
        _ = Glibc.write(file, bytes, bytes.count)
    }
}

/// The error of a log file that cannot be used.
public struct LogFileError: Error, CustomStringConvertible {
    public let description: String
}
