import ArgumentParser
import SystemPackage
package import Telemetry

/// The flags that set whether and where a process sends traces.
package struct TraceOptions: ParsableArguments {
    @Option(Settings.tracesEndpoint) var tracesEndpoint: FlagValue?
    @Option(Settings.tracesFile) var tracesFile: FlagValue?
    @Option(Settings.tracesSample) var tracesSample: FlagValue?

    package init() {}

    /// The settings that the flags set.
    package var flagValues: [FlagValue] { FlagValue.all(in: self) }
}

extension TraceSettings {
    /// Reads the settings. OpenTelemetry's own variables apply if ours are absent.
    package init(_ reader: inout SettingsReader) {
        self.init()
        endpoint = reader.optional(Settings.tracesEndpoint) ?? Self.usualEndpoint(&reader)
        file = reader.optional(Settings.tracesFile).map { FilePath($0).absolute }
        share = reader.value(Settings.tracesSample)
    }

    /// Reads OpenTelemetry's variables: one is the URL of traces as it is, the other is a base.
    ///
    /// Source: <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>.
    private static func usualEndpoint(_ reader: inout SettingsReader) -> String? {
        let variables: [(name: String, read: (String) -> String?)] = [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", { url($0) }),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", { url(ofBase: $0) }),
        ]
        for (name, read) in variables {
            guard let text = reader.environment[name], !text.isEmpty else { continue }
            if let url = read(text) { return url }
            reader.refuse(
                "\(name) = \(text.debugDescription): expected \(Settings.tracesEndpoint.syntax.expected)"
            )
        }
        return nil
    }
}
