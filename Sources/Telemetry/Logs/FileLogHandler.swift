import Edits
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

/// Writes each log event as one line for people to standard error.
public struct TextLogHandler: LogHandler {
    public var logLevel: Logger.Level = .info
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?

    public init() {}

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        StandardError.write(Self.line(event, metadata, metadataProvider))
    }

    /// Returns time, level, message, and data as `key=value`, on one line whatever untrusted names contain.
    static func line(
        _ event: LogEvent, _ metadata: Logger.Metadata, _ provider: Logger.MetadataProvider?
    ) -> String {
        let data = metadata.merging(provider?.get() ?? [:], uniquingKeysWith: { $1 })
            .merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
            .sorted { $0.key < $1.key }
            .map { " \($0.key)=\($0.value)" }.joined()
        let time = Date.now.formatted(.iso8601.time(includingFractionalSeconds: true))
        return "\(time) \(event.level.rawValue) \(event.message)\(data)".printable
    }
}

/// Writes each log event as one line of JSON to standard error.
///
/// `{"time": …, "level": …, "message": …, "logger": …}`: the message is a sentence, data are further fields. A line
/// about a job has `job`, `asset` and `fence`.
public struct JSONLogHandler: LogHandler {
    public var logLevel: Logger.Level = .info
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String

    public init(label: String) { self.label = label }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var fields = ["logger": label, "level": event.level.rawValue]
        fields["message"] = "\(event.message)"
        fields["time"] = Date.now.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true))
        let provided = metadataProvider?.get() ?? [:]
        for (key, value) in metadata.merging(provided, uniquingKeysWith: { $1 })
            .merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
        {
            fields[key] = "\(value)"
        }
        StandardError.write(JSONLogHandler.line(fields))
    }

    /// Returns the line of these fields; keys are sorted, so that lines can be compared.
    static func line(_ fields: [String: String]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(fields), as: UTF8.self).printableJSON
        } catch {
            preconditionFailure("text always encodes to JSON: \(error)")
        }
    }
}

/// Writes whole lines to standard error: one `write` each, so that lines of several threads do not mix.
public enum StandardError {
    /// Writes a line with its control characters escaped; the newline is added.
    public static func write(_ line: String) { writeBytes(line.printable) }

    /// Writes several lines of the program's own; control characters are escaped in them, too.
    public static func write(block: String) { writeBytes(block.printableLines) }

    private static func writeBytes(_ text: String) {
        var bytes = Array(text.utf8)
        bytes.append(UInt8(ascii: "\n"))
        // There is no channel to report that standard error is gone.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    public static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
