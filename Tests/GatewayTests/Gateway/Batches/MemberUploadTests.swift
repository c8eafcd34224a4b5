import AccessKeys
import Edits
import Foundation
import Hummingbird
import JobQueue
import MinilabTesting
import NIOCore
import Synchronization
import Testing

@testable import Gateway

/// What a body of members may cost.
@Suite("Bodies of members") struct MemberUploadTests {
    private static let open = #"{"id":"spring","edit":{"filters":[]}}"#
    private static let noJob = #"{"asset":1,"x":[[[[1]]]]}"# + "\n"

    private static func beginMembers(
        _ rig: GatewayRig, _ key: String, _ sent: String
    ) throws -> TCPConnection {
        let connection = try TCPConnection(port: rig.port)
        connection.send(
            "PUT /v1/batches/spring/members HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n"
                + "Content-Length: 1000000\r\n\r\n\(sent)")
        return connection
    }

    @Test func `a key has few at a time`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        _ = try await rig.send("POST", "/v1/batches", key: key, json: Self.open)
        let most = rig.parts.permits.memberBodies.ofKeyMax
        let held = try (0..<most).map { _ in
            try Self.beginMembers(rig, key, #"{"asset":"acme/1.jpg"}"# + "\n")
        }
        try await eventually("they have begun") {
            rig.parts.permits.memberBodies.count == most ? true : nil
        }
        let refused = try await rig.send(
            "PUT", "/v1/batches/spring/members", key: key, body: Self.noJob)
        #expect(refused.status == 429 && refused.code == "tooManyUploads", "\(refused.text)")
        let other = try await rig.key("globex", scopes: [.enqueue, .read])
        _ = try await rig.send("POST", "/v1/batches", key: other, json: Self.open)
        let taken = try await rig.send(
            "PUT", "/v1/batches/spring/members", key: other, body: #"{"asset":"globex/1.jpg"}"#)
        #expect(taken.status == 200, "\(taken.text)")
        _ = held
    }

    @Test func `a gateway that is to end waits for none that takes long`() async throws {
        let rig = try await GatewayRig { $0.endTime = .milliseconds(200) }
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        _ = try await rig.send("POST", "/v1/batches", key: key, json: Self.open)
        let held = try Self.beginMembers(rig, key, #"{"asset":"acme/1.jpg"}"# + "\n")
        try await eventually("it has begun") {
            rig.parts.permits.memberBodies.count == 1 ? true : nil
        }
        try await rig.stop()
        #expect(rig.parts.permits.memberBodies.count == 0)
        _ = held
    }

    @Test func `for a batch that nobody has opened are refused before a line is read`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        // Nothing is sent: another key of the tenant may open the batch for its folder before something is.
        let connection = try Self.beginMembers(rig, key, "")
        let answer = try await BorderBehaviourTests.read(connection, until: "\r\n")
        #expect(answer.contains(" 404 "), "\(answer)")
        let boss = try await rig.key(scopes: [.enqueue])
        let any = try await rig.send(
            "PUT", "/v1/batches/any/members", key: boss,
            body: #"{"asset":"a.jpg","edit":{"filters":[]}}"#)
        #expect(any.status == 200, "\(any.text)")
    }

    @Test func `many lines that are no jobs end one, and the others before are taken`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        _ = try await rig.send("POST", "/v1/batches", key: key, json: Self.open)
        let body =
            #"{"asset":"acme/1.jpg"}"# + "\n" + String(repeating: Self.noJob, count: 3_000)
            + #"{"asset":"acme/2.jpg"}"#
        let answer = try await rig.send(
            "PUT", "/v1/batches/spring/members", key: key, body: body)
        #expect(answer.status == 422, "\(answer.text)")
        #expect(answer.json["refusedCount"]?.number == Double(MemberUpload.refusedEndMax))
        #expect(answer.json["linesRead"]?.number == Double(MemberUpload.refusedEndMax + 1))
        #expect(answer.json["next"]?.number == 1 && answer.json["added"]?.number == 1)
    }

    @Test func `lines that are no jobs are paid for with the bytes of a day`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(
            "acme", scopes: [.enqueue, .read],
            quotas: KeyQuotas(uploadBytesPerDay: 100_000))
        _ = try await rig.send("POST", "/v1/batches", key: key, json: Self.open)
        let line = #"{"asset":"acme/1.jpg","x":"\#(String(repeating: "x", count: 900))"}"# + "\n"
        // The first line pays for some that follow.
        let first = try await rig.send(
            "PUT", "/v1/batches/spring/members", key: key, body: line)
        #expect(first.status == 422, "\(first.text)")
        let more = try await rig.send(
            "PUT", "/v1/batches/spring/members", key: key,
            body: #"{"asset":"acme/0.jpg"}"# + "\n" + String(repeating: line, count: 100))
        #expect(more.status == 429 && more.code == "uploadQuota", "\(more.text)")
        // What came before is stored, and the answer says where to go on.
        #expect(more.json["added"]?.number == 1 && more.json["next"]?.number == 1)
        #expect(more.json["line"]?.number == 2)
        let good = try await rig.send(
            "PUT", "/v1/batches/spring/members", key: key, body: #"{"asset":"acme/1.jpg"}"#)
        #expect(good.status == 200, "\(good.text)")
    }

    @Test func `what a client that is gone has sent is not parsed`() async throws {
        let rig = try await GatewayRig()
        let text = try await rig.key("acme", scopes: [.enqueue, .read])
        let key = try await rig.parts.keys.authenticate(text)
        let asked = Mutex(0)
        let upload = MemberUpload(
            to: try BatchID("acme.spring"), in: .all, editedBy: nil, from: 0, key,
            within: JobQueue.MemberLimits(storedMax: nil, mustBeOpen: true), bytesMax: 1 << 20,
            rig.queue)
        let border = MemberUpload.Border(
            permits: rig.parts.permits, pay: { _ in },
            isConnected: {
                asked.withLock { asked in
                    asked += 1
                    return asked < 2
                }
            })
        let body = RequestBody(
            buffer: ByteBuffer(string: String(repeating: Self.noJob, count: 10_000)))
        await #expect(throws: BodyRefusal.broken("the connection has ended")) {
            _ = try await upload.receive(body, within: border)
        }
        #expect(asked.withLock { $0 } == 2)
    }
}
