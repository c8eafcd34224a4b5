import Edits
import Foundation
import Glibc
import HTTPTypes
import MinilabTesting
import Testing

@testable import Gateway

/// What one request may cost the gateway, however its client writes it: quadratic readers of a head, a path or a form each stopped a gateway
/// with a few requests.
///
/// It is not the time of an answer that is measured, which a busy machine lengthens, but the processor time of a released gateway, beside
/// that of a plain call of the same route. A new route is in the table by itself.
@Suite("What a request costs") struct RouteCostTests {
    /// Beyond twice that of a plain call, which caches that other processes empty make dearer. What was found once cost 20 to 2,700 ms;
    /// nothing costs more than 3 ms today.
    private static let millisecondsMax = 12.0
    /// For each further request as which a body counts: 128 KB of JSON cost 9 ms of the 31 that they may.
    private static let millisecondsOfRequest = 1.0
    /// A call above the limit is repeated, because the first one of its kind may prepare something.
    private static let tries = 5

    /// A caller with the fields of its requests.
    private struct Caller {
        let name: String
        let key: String?
        let session: String?

        func fields(_ route: Route) -> [String] {
            // Whoever signs out is signed out.
            guard route.access.scope != nil else { return [] }
            if route.access.isPage { return session.map { ["Cookie: \($0)"] } ?? [] }
            return key.map { ["Authorization: Bearer \($0)"] } ?? []
        }
    }

    /// A request of the largest size that the border lets pass.
    private struct Large {
        let name: String
        let target: String
        var fields: [String] = []
        var body: String?
    }

    private struct Rig {
        let gateway: RunningGateway
        /// Keeps the server and the library.
        let server: RedisServer
        let folder: TemporaryFolder

        init() async throws {
            folder = try TemporaryFolder()
            try FileManager.default.createDirectory(
                atPath: folder.file("library/originals"), withIntermediateDirectories: true)
            server = try await RedisServer.start()
            gateway = try await RunningGateway(on: server, library: folder.file("library"))
        }

        func caller(_ name: String, _ owner: [String]) async throws -> Caller {
            let made = try await MinilabProcess.run(
                ["key", "create", "--scope", "enqueue,read,operate,admin", "--rate", "1000000"]
                    + owner + ["--json"] + server.flags(as: .operator))
            let key = try #require(
                try JSONValue(parsing: made.output, as: "the key")["secret"]?.text)
            // A gateway looks up a key that it has not heard of.
            let answer = try await HTTPExchange.send(
                request("POST", "/signin", [], body: "key=\(key)"), port: gateway.port)
            let cookie = answer.text.split(separator: "\r\n").first {
                $0.lowercased().hasPrefix("set-cookie: ")
            }
            let session = try #require(
                cookie?.dropFirst("set-cookie: ".count).split(separator: ";").first,
                "\(answer.text)")
            return Caller(name: name, key: key, session: String(session))
        }

        private func request(
            _ method: String, _ target: String, _ fields: [String], body: String?
        ) -> String {
            var lines = [
                "\(method) \(target) HTTP/1.1", "Host: localhost:\(gateway.port)",
                "Connection: close", "Sec-Fetch-Site: same-origin",
            ]
            lines += fields
            if let body { lines.append("Content-Length: \(body.utf8.count)") }
            return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
        }

        /// Sends a request, and returns the processor time until the head of its answer, in ms, and its status.
        func cost(
            _ method: String, _ target: String, _ fields: [String], body: String? = nil
        ) async throws -> (milliseconds: Double, status: Int) {
            let text = request(method, target, fields, body: body)
            let before = try processorTime()
            let connection = try TCPConnection(port: gateway.port)
            connection.send(text)
            let head = try await BorderBehaviourTests.read(connection, until: "\r\n\r\n")
            let after = try processorTime()
            let status = head.split(separator: " ", maxSplits: 2).dropFirst().first
            return ((after - before), status.flatMap { Int($0) } ?? 0)
        }

        /// The processor time of the gateway until now, in ms.
        private func processorTime() throws -> Double {
            var clock = clockid_t()
            var time = timespec()
            try #require(clock_getcpuclockid(gateway.process.pid, &clock) == 0)
            try #require(clock_gettime(clock, &time) == 0)
            return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
        }
    }

    @Test func `no head, path, query, form or body makes a route do much`() async throws {
        let rig = try await Rig()
        let callers = [
            Caller(name: "nobody", key: nil, session: nil),
            try await rig.caller("a tenant", ["--tenant", "acme", "--prefix", "acme/"]),
            try await rig.caller("an operator", ["--operator"]),
        ]
        var tooMuch: [String] = []
        var dearest = 0.0
        for route in RouteTable.routes where route.method != .head {
            let method = route.method.rawValue
            for caller in callers where caller.key == nil || route.access.scope != nil {
                let own = caller.fields(route)
                var usual = Double.infinity
                for _ in 0..<3 {
                    let plain = try await rig.cost(method, route.examplePath, own)
                    usual = min(usual, plain.milliseconds)
                }
                for large in Self.requests(of: route) {
                    // A stranger's bytes are counted by nobody.
                    let counted =
                        caller.key == nil
                        ? 0 : RequestRate.requests(ofBytes: large.body?.utf8.count ?? 0) - 1
                    let most =
                        2 * usual + Self.millisecondsMax + Self.millisecondsOfRequest
                        * Double(counted)
                    var least = Double.infinity
                    for _ in 0..<Self.tries where least > most {
                        let call = try await rig.cost(
                            method, large.target, large.fields + own, body: large.body)
                        least = min(least, call.milliseconds)
                        // The answer to a body that is not read may be lost with its connection.
                        #expect(
                            large.body != nil || ![0, 414, 431].contains(call.status),
                            "\(method) \(route.path), \(large.name): it never came to the route")
                    }
                    dearest = max(dearest, least)
                    if least > most {
                        tooMuch.append(
                            "\(method) \(route.path) by \(caller.name), \(large.name): \(least) of \(most) ms"
                        )
                    }
                }
            }
        }
        #expect(tooMuch.isEmpty, "\(tooMuch.joined(separator: "\n"))")
        // 128 KB of JSON cost something, or nothing was measured.
        #expect(dearest > 0.5)
    }

    @Test(arguments: ["GET", "POST", "OPTIONS"])
    func `nor does a path that nothing serves`(method: String) async throws {
        let rig = try await Rig()
        for path in [
            "/" + Self.text("a/", 8_000), "/v1/" + Self.text("a/", 8_000),
            Self.text("/", 8_000), "/" + Self.text("%41", 8_000),
        ] {
            var least = Double.infinity
            for _ in 0..<Self.tries where least > Self.millisecondsMax {
                let call = try await rig.cost(
                    method, path,
                    ["Origin: http://a.example", "Access-Control-Request-Method: POST"],
                    body: method == "POST" ? "" : nil)
                #expect(![0, 414, 431].contains(call.status))
                least = min(least, call.milliseconds)
            }
            #expect(least <= Self.millisecondsMax, "\(path.prefix(20))")
        }
    }

    /// Repeats a text up to a number of bytes.
    private static func text(_ part: String, _ bytes: Int) -> String {
        String(repeating: part, count: bytes / part.utf8.count)
    }

    /// The most bytes of a target and of a field's value that leave room for the rest of a head.
    private static let targetBytes = 8_000
    private static let valueBytes = 15_000

    private static func requests(of route: Route) -> [Large] {
        let path = route.examplePath
        var all: [Large] = []
        let names = route.path.matches(of: /\{[a-z]+(\.\.\.)?\}/).count
        if names > 0 {
            let each = (targetBytes - route.path.utf8.count) / names
            let long = route.path.replacing("{asset...}", with: text("a/", each) + "a")
                .replacing(/\{[a-z]+\}/, with: text("%41", each))
            all.append(Large(name: "a long path", target: long))
        }
        let room = targetBytes - path.utf8.count - 40
        all.append(Large(name: "many pairs", target: path + "?" + text("a=%41&", room)))
        let parameters = route.parameters.filter { $0.location == .query }.map(\.name)
        for name in parameters {
            all.append(
                Large(name: "a long \(name)", target: path + "?\(name)=" + text("%41,", room)))
            all.append(
                Large(name: "\(name) often", target: path + "?" + text("\(name)=a&", room)))
        }
        all += fields.map { field in
            let value = field.start + text(field.part, valueBytes)
            return Large(
                name: "a long \(field.name)", target: path, fields: ["\(field.name): \(value)"])
        }
        all.append(
            Large(
                name: "many fields", target: path,
                fields: (0..<90).map { "X-\($0): \(text("a", 140))" }))
        guard [.post, .put, .patch].contains(route.method) else { return all }
        for body in bodies {
            all.append(
                Large(
                    name: body.name, target: path, fields: ["Content-Type: \(body.type)"],
                    body: body.text))
        }
        return all
    }

    /// Fields that some route or the border reads, each with what it is made of.
    private static let fields: [(name: String, start: String, part: String)] = [
        ("Cookie", "", "a=b; "), ("Cookie", "", "minilab=; "),
        ("Authorization", "Bearer mlk_", "a_"),
        ("Accept", "", "a/b;q=0.1,"), ("If-Match", "", #""a","#), ("If-None-Match", "", #""a","#),
        ("If-Range", "", #""a","#), ("Range", "bytes=", "0-1,"), ("Prefer", "", "respond-async, "),
        ("Content-Digest", "", "sha-256=:a:, "), ("Idempotency-Key", "", "a"),
        ("Last-Event-ID", "", "1-1"), ("traceparent", "", "00-"), ("Origin", "http://", "a."),
        ("Content-Type", "", "a;"),
    ]

    private static let json = "application/json"
    private static let form = "application/x-www-form-urlencoded"
    private static let manyFields = (0..<10_000).map { #""k\#($0)":1"# }.joined(separator: ",")

    /// A job has 128 KB at most, and what else is JSON a megabyte.
    private static let bodies: [(name: String, type: String, text: String)] = [
        ("nested JSON", json, #"{"edit":{"filters":[\#(text("[[[[{}]]]],", 130_000))1]}}"#),
        ("a megabyte of JSON", json, #"{"url":[\#(text("[[[[{}]]]],", 1_000_000))1]}"#),
        ("JSON of many fields", json, "{\(manyFields)}"),
        ("JSON of escapes", json, #"{"asset":"a.jpg","id":"\#(text(#"\u0041"#, 130_000))"}"#),
        ("lines", "application/x-ndjson", text("{}\n", 130_000)),
        ("a stranger's form", form, text("a=%41&", 96)),
        ("a stranger's long form", form, "key=\(text("+", 4_000))"),
        ("a form of many pairs", form, text("a=%41&", 12_000)),
        ("a long form", form, "csrf=\(text("%41", 65_000))"),
        ("a form that is too long", form, text("a&", 65_000)),
    ]
}
