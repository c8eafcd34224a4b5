import Edits
import FoundationEssentials
public import Logging

/// Writes each log event as one line for people to standard error.
public struct TextLogHandler: LogHandler {
    public var logLevel: Logger.Level = .info
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?

    /// Creates a handler.
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
