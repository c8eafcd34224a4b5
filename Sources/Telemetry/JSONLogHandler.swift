import Adjustments
import FoundationEssentials
public import Logging

/// Writes each log event as one line of JSON to standard error.
///
/// `{"time": …, "level": …, "message": …, "logger": …}`: a sentence as message, data beside it; a line
/// about a job has `job`, `asset` and `fence`.
public struct JSONLogHandler: LogHandler {
    public var logLevel: Logger.Level = .info
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String

    /// A handler for the logger of that label.
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

    /// The line for these fields; keys are sorted, so lines compare.
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
