import Edits
import AsyncHTTPClient
import Foundation
import MinilabTesting
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

/// Everything that clients sent is there once, whatever of the gateway or of Redis is killed meanwhile.
@Suite("killed gateways") struct KilledGatewayTests {
    private static let open = #"{"id":"bulk","edit":{"filters":[]}}"#
    private static let lines = (0..<6000).map { #"{"asset":"acme/\#($0).jpg"}"# + "\n" }

    /// How many answers were of which kind.
    private final class Counts: Sendable {
        let accepted = Mutex(0)
        let refused = Mutex(0)
    }

    /// A library that nobody looks into.
    private static func library(in folder: TemporaryFolder) throws -> String {
        let path = folder.file("library")
        try FileManager.default.createDirectory(
            atPath: path + "/originals", withIntermediateDirectories: true)
        return path
    }

    private static func text(_ text: some StringProtocol) -> HTTPClientRequest.Body {
        .bytes(ByteBuffer(string: String(text)))
    }

    /// The assets of the batch's stream, in order.
    private static func streamEntries(_ server: RedisServer) async throws -> [String] {
        let text = try await server.command("XRANGE", "minilab:{photos}:lane:acme.bulk", "-", "+")
        return text.matches(of: /acme\/([0-9]+)\.jpg/).map { String($0.output.1) }
    }

    @Test
    func `a bulk that a killed gateway began is ended by another, with nothing lost or doubled`()
        async throws
    {
        let folder = try TemporaryFolder()
        let library = try Self.library(in: folder)
        let server = try await RedisServer.start()
        let first = try await RunningGateway(on: server, library: library)
        let second = try await RunningGateway(on: server, library: library)
        let key = try await RunningGateway.key(on: server)
        let opened = try await first.send(
            "POST", "/v1/batches", key: key, body: Self.text(Self.open))
        #expect(opened.status == 201, "\(opened.json)")

        // Half of the lines, then nothing more until the gateway is dead.
        let (parts, more) = AsyncStream.makeStream(of: ByteBuffer.self)
        let upload = Task {
            try await first.send(
                "PUT", "/v1/batches/bulk/members", key: key,
                body: .stream(parts, length: .unknown))
        }
        for line in Self.lines.prefix(3000) { more.yield(ByteBuffer(string: line)) }
        try await eventually("some of them are in the lane") {
            try await Self.streamEntries(server).count >= 1000 ? true : nil
        }
        first.process.kill(SIGKILL)
        more.finish()
        await #expect(throws: (any Error).self) { try await upload.value }

        // A line that is too far ahead is refused with where to go on.
        let path = "/v1/batches/bulk/members?from="
        let probe = try await second.send(
            "PUT", path + "6000", key: key, body: Self.text(Self.lines[0]))
        #expect(probe.status == 409, "\(probe.json)")
        let next = try #require(probe.json["next"]?.number.map { Int($0) })
        #expect((1000...3000).contains(next))
        let rest = try await second.send(
            "PUT", path + "\(next)", key: key, body: Self.text(Self.lines[next...].joined()))
        #expect(rest.json["next"]?.number == 6000, "\(rest.json)")
        #expect(rest.json["added"]?.number == Double(6000 - next))
        #expect(try await Self.streamEntries(server) == (0..<6000).map { "\($0)" })
    }

    @Test func `what is sent to two gateways at a time is there once`() async throws {
        let folder = try TemporaryFolder()
        let library = try Self.library(in: folder)
        let server = try await RedisServer.start()
        let gateways = [
            try await RunningGateway(on: server, library: library),
            try await RunningGateway(on: server, library: library),
        ]
        let key = try await RunningGateway.key(on: server)
        try await withThrowingTaskGroup { group in
            for gateway in gateways {
                group.addTask {
                    let opened = try await gateway.send(
                        "POST", "/v1/batches", key: key, body: Self.text(Self.open))
                    #expect([200, 201].contains(opened.status), "\(opened.json)")
                    let taken = try await gateway.send(
                        "PUT", "/v1/batches/bulk/members", key: key,
                        body: Self.text(Self.lines.joined()))
                    #expect(taken.json["next"]?.number == 6000, "\(taken.json)")
                    for number in 0..<50 {
                        let job = try await gateway.send(
                            "POST", "/v1/jobs", key: key,
                            body: Self.text(#"{"asset":"acme/x.jpg","edit":{"filters":[]}}"#),
                            headers: ["Idempotency-Key": "job \(number)"])
                        #expect([200, 202].contains(job.status), "\(job.json)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await Self.streamEntries(server) == (0..<6000).map { "\($0)" })
        let reserved = try await server.command("HLEN", "minilab:{photos}:reserved")
        #expect(reserved == "50")
    }

    @Test func `while Redis is dead clients are told to ask again, and what was accepted is kept`()
        async throws
    {
        let folder = try TemporaryFolder()
        let server = try await RedisServer.start(syncsEachWrite: true)
        let gateway = try await RunningGateway(on: server, library: Self.library(in: folder))
        let key = try await RunningGateway.key(on: server)
        let counts = Counts()
        try await withThrowingTaskGroup { group in
            for client in 0..<20 {
                group.addTask {
                    for number in 0..<30 {
                        let body =
                            #"{"id":"c\#(client)-\#(number)","asset":"acme/x.jpg","edit":{"filters":[]}}"#
                        try await eventually("job \(client)-\(number) is accepted") {
                            let answer = try await gateway.send(
                                "POST", "/v1/jobs", key: key, body: Self.text(body))
                            guard answer.status == 503 else {
                                #expect([200, 202].contains(answer.status), "\(answer.json)")
                                counts.accepted.withLock { $0 += 1 }
                                return true
                            }
                            #expect(answer.headers.first(name: "Retry-After") != nil)
                            counts.refused.withLock { $0 += 1 }
                            return nil
                        }
                    }
                }
            }
            try await eventually("some are accepted") {
                counts.accepted.withLock { $0 } >= 100 ? true : nil
            }
            server.kill(SIGKILL)
            try await server.waitForEnd()
            try await eventually("clients are refused") {
                counts.refused.withLock { $0 } >= 20 ? true : nil
            }
            try await server.launch()
            try await group.waitForAll()
        }
        let reserved = try await server.command("HKEYS", "minilab:{photos}:reserved")
        let names = Set(reserved.split(whereSeparator: \.isNewline).map(String.init))
        let sent = (0..<20).flatMap { client in (0..<30).map { "acme.c\(client)-\($0)" } }
        #expect(names.isSuperset(of: sent))
        #expect(names.count == 600)
    }
}
