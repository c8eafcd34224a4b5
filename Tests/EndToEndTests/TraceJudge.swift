import Foundation
import MinilabTesting

/// OpenTelemetry's own messages, which know nothing of Minilab, as judge of what traces are written as.
enum TraceJudge {
    private static let python = Contract.folder.deletingLastPathComponent()
        .appending(path: ".build-test/opentelemetry-proto-1.45.2/bin/python3").path

    /// Whether ops/setup has installed it.
    static var isThere: Bool { FileManager.default.isExecutableFile(atPath: python) }

    /// Reads each line of a file, and refuses what no message of the protocol is: unknown fields, other types, names of
    /// another length, a span that ends before it begins.
    ///
    /// - Returns: what it says of it; nothing at best.
    static func complaint(about file: String) throws -> String {
        let script = """
            import base64, json, sys
            from google.protobuf import json_format
            from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

            # Names are in hex where the JSON of other messages has base64.
            def named(value):
                if isinstance(value, dict):
                    return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in ("traceId", "spanId", "parentSpanId")
                            else named(v) for k, v in value.items()}
                return [named(v) for v in value] if isinstance(value, list) else value

            spans = 0
            for line in open(sys.argv[1]):
                request = json_format.ParseDict(named(json.loads(line)), ExportTraceServiceRequest())
                for resource in request.resource_spans:
                    assert any(a.key == "service.name" for a in resource.resource.attributes), resource
                    for scope in resource.scope_spans:
                        for span in scope.spans:
                            spans += 1
                            assert len(span.trace_id) == 16 and len(span.span_id) == 8, span
                            assert len(span.parent_span_id) in (0, 8) and span.name and span.kind, span
                            assert span.start_time_unix_nano <= span.end_time_unix_nano, span
            assert spans > 0
            """
        return String(decoding: try Tool.run(python, ["-c", script, file]), as: UTF8.self)
    }
}
