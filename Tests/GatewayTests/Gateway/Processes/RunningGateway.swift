import Edits
import AsyncHTTPClient
import Foundation
import MinilabTesting
import NIOCore
import NIOHTTP1
import Testing

/// A gateway as a process of its own, which can be killed.
final class RunningGateway: Sendable {
    let process: MinilabProcess
    let port: Int

    /// Starts it, and waits until it can serve.
    init(on server: RedisServer, library: String) async throws {
        let process = try MinilabProcess(
            ["--library", library, "--port", "0"] + server.flags(as: .gateway),
            executable: "minilab-gateway")
        self.process = process
        let port = try await eventually("the gateway listens") { () -> Int? in
            process.output.firstMatch(of: /the gateway listens on http:\/\/127\.0\.0\.1:([0-9]+)/)
                .flatMap { Int($0.output.1) }
        }
        self.port = port
        try await eventually("the gateway hears Redis") {
            try await Self.send(port, "GET", "/readyz").status == 200 ? true : nil
        }
    }

    /// The text of a new key of tenant acme, of which the rate does not matter.
    static func key(on server: RedisServer) async throws -> String {
        let made = try await MinilabProcess.run(
            [
                "key", "create", "--tenant", "acme", "--prefix", "acme/",
                "--scope", "enqueue,read", "--rate", "1000000", "--json",
            ] + server.flags(as: .operator))
        let json = try JSONValue(parsing: made.output, as: "the key")
        return try #require(json["secret"]?.text)
    }

    func send(
        _ method: String, _ path: String, key: String? = nil,
        body: HTTPClientRequest.Body? = nil, headers: [String: String] = [:]
    ) async throws -> (status: Int, headers: HTTPHeaders, json: JSONValue) {
        try await Self.send(port, method, path, key: key, body: body, headers: headers)
    }

    private static func send(
        _ port: Int, _ method: String, _ path: String, key: String? = nil,
        body: HTTPClientRequest.Body? = nil, headers: [String: String] = [:]
    ) async throws -> (status: Int, headers: HTTPHeaders, json: JSONValue) {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = HTTPMethod(rawValue: method)
        if let key { request.headers.add(name: "Authorization", value: "Bearer \(key)") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = body
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        let json = text.isEmpty ? .null : try JSONValue(parsing: text, as: "the answer")
        return (Int(response.status.code), response.headers, json)
    }
}
