import Edits
import FoundationEssentials
public import Logging

/// Writes each log event as one line of JSON to standard error.
///
/// `{"time": …, "level": …, "message": …, "logger": …}`: the message is a sentence, data are further fields. A line
/// about a job has `job`, `asset` and `fence`.
public struct JSONLogHandler: LogHandler {
    public var logLevel: Logger.Level = .info
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String

    /// Creates a handler for the logger with that label.
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
