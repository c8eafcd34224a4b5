import Telemetry

/// The settings of traces, of workers and gateways alike.
extension Settings {
    package static let tracesEndpoint = Setting(
        "traces.endpoint",
        ValueSyntax<String>(
            "the URL of a collector such as http://127.0.0.1:4318, without login and query",
            placeholder: "url"
        ) { TraceSettings.url(ofBase: $0) },
        default: nil,
        "that of OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT, or none",
        help: "A collector of OpenTelemetry that gets traces over HTTP in JSON")
    package static let tracesFile = Setting(
        "traces.file", .text("the path of a file", placeholder: "path"), default: nil, "none",
        help: "A file that gets traces as lines of JSON")
    package static let tracesSample = Setting(
        "traces.sample",
        ValueSyntax<Double>("a number from 0 to 1", placeholder: "share") { text in
            Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
        }, default: 1, "1",
        help: "The share of jobs and requests that are traced, of those whose sender does not say")
}
