import AccessKeys
import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

@testable import Gateway

@Suite("jobs over HTTP") struct JobRoutesTests {
    private static let sepia =
        #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}"#

    @Test
    func `a job is taken, found at once, taken again as the same, and refused with another edit`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        let job = #"{"id":"o1","asset":"acme/a.jpg","edit":\#(Self.sepia)}"#
        let taken = try await rig.send("POST", "/v1/jobs", key: key, json: job)
        #expect(taken.status == 202, "\(taken.text)")
        #expect(taken.json["job"]?.text == "acme.o1")
        let location = try #require(taken.header("Location"))
        let found = try await rig.send("GET", location, key: key)
        #expect(found.status == 200 && found.json["state"]?.text == "incoming", "\(found.text)")
        #expect(found.json["reason"]?["code"]?.text == "incoming")
        #expect(try await rig.send("GET", "/v1/jobs/o1", key: key).status == 200)

        let again = try await rig.send("POST", "/v1/jobs", key: key, json: job)
        #expect(again.status == 200 && again.json["state"]?.text == "incoming", "\(again.text)")
        let other = try await rig.send(
            "POST", "/v1/jobs", key: key,
            json: #"{"id":"o1","asset":"acme/b.jpg","edit":\#(Self.sepia)}"#)
        #expect(other.status == 409 && other.code == "conflict", "\(other.text)")
        #expect(try await rig.queue.status()[.incoming] == 1)
    }

    @Test(arguments: [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "", "header"),
        (
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            #","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00""#, "body"
        ),
        ("00-4BF9-not-valid", "", ""), ("", #","traceparent":"not valid""#, ""),
    ])
    func `a job is a part of the trace that its client names`(
        header: String, field: String, whose: String
    ) async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let answer = try await rig.send(
            "POST", "/v1/jobs", key: key,
            json: #"{"id":"o1","asset":"acme/a.jpg","edit":\#(Self.sepia)\#(field)}"#,
            headers: header.isEmpty ? [:] : ["traceparent": header])
        #expect(answer.status == 202, "\(answer.text)")
        _ = try await rig.queue.admit()
        let claim = try await rig.queue.claim(by: "w", count: 1).jobs.first
        let places = [
            "header": header, "body": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
        ]
        #expect(claim?.job == "acme.o1")
        #expect(claim?.traceparent?.description == places[whose])
    }

    @Test func `a wait ends with its connection, and a gateway that stops does not wait for it`()
        async throws
    {
        let rig = try await GatewayRig { $0.endTime = .milliseconds(500) }
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        try await rig.post("o1", "acme/a.jpg", key: key)
        let connection = try TCPConnection(port: rig.port)
        connection.send(
            "GET /v1/jobs/o1 HTTP/1.1\r\nPrefer: wait=30\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n\r\n"
        )
        try await eventually("the wait has begun") {
            rig.parts.limits.connections.callCount > 0 ? true : nil
        }
        let start = ContinuousClock.now
        try await rig.stop()
        #expect(.now - start < .seconds(20))
    }

    @Test func `an idempotency key names a job of its tenant`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let stranger = try await rig.key("zebra", scopes: [.enqueue])
        func post(_ key: String, _ asset: String) async throws -> GatewayRig.Answer {
            try await rig.send(
                "POST", "/v1/jobs", key: key,
                json: #"{"asset":"\#(asset)","edit":\#(Self.sepia)}"#,
                headers: ["Idempotency-Key": "order-7"])
        }
        let first = try await post(key, "acme/a.jpg")
        let again = try await post(key, "acme/a.jpg")
        #expect(first.status == 202 && again.status == 200)
        #expect(first.json["job"] == again.json["job"])
        let other = try await post(key, "acme/b.jpg")
        #expect(other.status == 422 && other.code == "idempotencyMismatch")
        #expect(try await post(stranger, "zebra/a.jpg").status == 202)
    }

    @Test(arguments: [
        (#"{"asset":"acme/a.jpg"}"#, 422, "missingField", "#/edit"),
        (
            #"{"asset":"acme/a.jpg","edit":{"filters":[{"name":"CIGaussianBlur","inputRadius":-1}]}}"#,
            422, "parameterOutOfRange", "#/edit/filters/0/inputRadius"
        ),
        (
            #"{"asset":"acme/a.jpg","edit":{"filters":[{"name":"CINone"}]}}"#, 422,
            "unknownFilter", "#/edit/filters/0/name"
        ),
        (#"{"asset":"zebra/a.jpg","edit":{"filters":[]}}"#, 404, "notFound", "#/asset"),
        (
            #"{"asset":"acme/a.jpg","edit":{"mode":"copyEdit","from":"zebra/a.jpg"}}"#, 404,
            "notFound", "#/edit/from"
        ),
        (
            #"{"asset":"acme/a.jpg","edit":{"mode":"import","sidecar":"zebra/a.aae"}}"#, 404,
            "notFound", "#/edit/sidecar"
        ),
        (
            #"{"asset":"acme/a.jpg","tenant":"zebra","edit":{"filters":[]}}"#, 404, "notFound",
            "#/tenant"
        ),
        (#"{"asset":"acme/a.jpg","#, 400, "malformedJSON", nil),
    ])
    func `what is wrong with a job is said with code and place`(
        _ body: String, _ status: Int, _ code: String, _ pointer: String?
    ) async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let answer = try await rig.send("POST", "/v1/jobs", key: key, json: body)
        #expect(answer.status == status && answer.code == code, "\(answer.text)")
        #expect(answer.json["pointer"]?.text == pointer, "\(answer.text)")
        #expect(answer.header("Content-Type") == "application/problem+json")
    }

    @Test func `a tenant has as many jobs as its key says`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue], quotas: KeyQuotas(backlogMax: 2))
        for number in 1...3 {
            let answer = try await rig.send(
                "POST", "/v1/jobs", key: key,
                json: #"{"id":"o\#(number)","asset":"acme/a.jpg","edit":\#(Self.sepia)}"#)
            #expect(answer.status == (number < 3 ? 202 : 429), "\(answer.text)")
            if number == 3 {
                #expect(answer.code == "backlogFull")
                #expect(answer.header("Retry-After") != nil)
            }
        }
    }

    @Test func `another tenant's job is as unknown as none`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        let stranger = try await rig.key("zebra", scopes: [.enqueue, .read])
        _ = try await rig.send(
            "POST", "/v1/jobs", key: key,
            json: #"{"id":"o1","asset":"acme/a.jpg","edit":\#(Self.sepia)}"#)
        let foreign = try await rig.send("GET", "/v1/jobs/acme.o1", key: stranger)
        let none = try await rig.send("GET", "/v1/jobs/zebra.o1", key: stranger)
        #expect(foreign.status == 404 && none.status == 404)
        #expect(
            foreign.text.replacing("zebra.acme.o1", with: "X")
                == none.text.replacing("zebra.o1", with: "X"))
        #expect(
            try await rig.send("POST", "/v1/jobs/acme.o1/cancel", key: stranger).status == 404)
    }

    @Test func `a job is cancelled before a worker has seen it`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        _ = try await rig.send(
            "POST", "/v1/jobs", key: key,
            json: #"{"id":"o1","asset":"acme/a.jpg","edit":\#(Self.sepia)}"#)
        let cancelled = try await rig.send(
            "POST", "/v1/jobs/acme.o1/cancel", key: key, json: #"{"reason":"ordered twice"}"#)
        #expect(cancelled.status == 200, "\(cancelled.text)")
        let after = try await rig.send("GET", "/v1/jobs/acme.o1", key: key)
        #expect(after.json["reason"]?["code"]?.text == "cancelled", "\(after.text)")
    }
}
