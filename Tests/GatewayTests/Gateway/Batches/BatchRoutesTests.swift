import AccessKeys
import Edits
import Foundation
import JobQueue
import MinilabTesting
import NIOCore
import Redis
import Testing

@testable import Gateway

@Suite("batches over HTTP") struct BatchRoutesTests {
    private static let open = #"{"id":"spring","edit":{"filters":[{"name":"CISepiaTone"}]}}"#

    @Test func `a batch is opened, filled in two goes, sealed and read`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        let opened = try await rig.send("POST", "/v1/batches", key: key, json: Self.open)
        #expect(opened.status == 201, "\(opened.text)")
        #expect(opened.header("Location") == "/v1/batches/acme.spring")
        #expect(try await rig.send("POST", "/v1/batches", key: key, json: Self.open).status == 200)

        let lines = (0..<2500).map { #"{"asset":"acme/\#($0).jpg"}"# }
        func put(_ range: Range<Int>) async throws -> GatewayRig.Answer {
            try await rig.send(
                "PUT", "/v1/batches/spring/members?from=\(range.lowerBound)", key: key,
                body: lines[range].joined(separator: "\n"))
        }
        #expect(try await put(0..<1500).json["next"]?.number == 1500)
        // Some are sent again, as after a reply that was lost.
        let rest = try await put(1000..<2500)
        #expect(rest.json["next"]?.number == 2500 && rest.json["added"]?.number == 1000)
        let gap = try await put(2400..<2500).status
        #expect(gap == 200)
        let ahead = try await rig.send(
            "PUT", "/v1/batches/spring/members?from=3000", key: key, body: lines[0])
        #expect(ahead.status == 409 && ahead.code == "gap")
        #expect(ahead.json["next"]?.number == 2500)

        let short = try await rig.send(
            "POST", "/v1/batches/spring/seal", key: key, json: #"{"jobs":10}"#)
        #expect(short.status == 409, "\(short.text)")
        let sealed = try await rig.send(
            "POST", "/v1/batches/spring/seal", key: key, json: #"{"jobs":2500}"#)
        #expect(sealed.status == 200, "\(sealed.text)")
        let read = try await rig.send("GET", "/v1/batches/acme.spring", key: key)
        #expect(read.json["record"]?["sealed"]?.number == 2500)
        #expect(
            try await rig.send("GET", "/v1/batches", key: key).json["batches"]?.list?.count == 1)
        let stranger = try await rig.key("zebra", scopes: [.read])
        #expect(
            try await rig.send("GET", "/v1/batches/acme.spring", key: stranger).status == 404)
        #expect(
            try await rig.send("GET", "/v1/batches", key: stranger).json["batches"]?.list?.count
                == 0)
    }

    @Test func `a tenant's list has its own batch, however many newer ones others have`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        #expect(try await rig.send("POST", "/v1/batches", key: key, json: Self.open).status == 201)
        let newer = """
            local P, opened = ARGV[1], redis.call('TIME')[1] * 1000 + 2000
            for i = 1, 1100 do
              redis.call('HSET', P .. 'batch:other.' .. i, 'tenant', 'other', 'priority', 'bulk', 'generation', '1',
                'finished', '0', 'admitted', '0', 'opened', opened)
              redis.call('ZADD', P .. 'batches', opened, 'other.' .. i)
            end
            """
        _ = try await rig.redis.send([
            "EVAL", RedisArgument(newer), "0", RedisArgument("minilab:{\(rig.queue.name)}:"),
        ])
        for query in ["", "?open=true", "?count=1"] {
            let answer = try await rig.send("GET", "/v1/batches\(query)", key: key)
            let list = try #require(answer.json["batches"]?.list, "\(answer.text)")
            #expect(list.count == 1 && answer.json["more"]?.number == 0, "\(answer.text)")
        }
        let all = try await rig.send(
            "GET", "/v1/batches?count=10", key: rig.key(nil, scopes: [.read]))
        #expect(all.json["more"]?.number == 1091, "\(all.text)")
    }

    @Test func `members count against the bytes of their tenant, and need an open batch`()
        async throws
    {
        let rig = try await GatewayRig()
        let lines = (0..<200).map { number in
            #"{"asset":"acme/\#(number).jpg","edit":{"filters":[{"name":"CIVignette","inputRadius":\#(number % 2 + 1)}]}}"#
        }.joined(separator: "\n")
        func put(_ batch: String, _ key: String) async throws -> GatewayRig.Answer {
            try await rig.send("PUT", "/v1/batches/\(batch)/members", key: key, body: lines)
        }
        let key = try await rig.key(
            "acme", scopes: [.enqueue, .read], quotas: KeyQuotas(storedBytesMax: 10_000))
        let unopened = try await put("never-opened", key)
        #expect(unopened.status == 404, "\(unopened.text)")
        #expect(try await rig.queue.stored(by: JobID("acme")) == 0)
        _ = try await rig.send("POST", "/v1/batches", key: key, json: Self.open)
        let full = try await put("spring", key)
        #expect(full.status == 429 && full.code == "storedFull", "\(full.text)")
        #expect(full.json["max"]?.number == 10_000 && full.header("Retry-After") != nil)
        let job = try await rig.send(
            "POST", "/v1/jobs", key: key,
            json: #"{"asset":"acme/a.jpg","edit":{"filters":[{"name":"CISepiaTone"}]}}"#)
        #expect(job.status == 202, "\(job.text)")
        // Keys of the operator may fill a batch before it is opened.
        let everyone = try await rig.key(scopes: [.enqueue])
        #expect(try await put("later", everyone).status == 200)
    }

    @Test func `a body of members has a limit, and says where to continue`() async throws {
        let rig = try await GatewayRig { $0.membersBytesMax = 50_000 }
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        _ = try await rig.send("POST", "/v1/batches", key: key, json: Self.open)
        let lines = (0..<5000).map { #"{"asset":"acme/\#($0).jpg"}"# }
        let answer = try await rig.send(
            "PUT", "/v1/batches/spring/members", key: key, body: lines.joined(separator: "\n"))
        #expect(answer.status == 413 && answer.code == "bodyTooLarge", "\(answer.text)")
        let next = Int(try #require(answer.json["next"]?.number))
        #expect(next < 5000)
        let rest = try await rig.send(
            "PUT", "/v1/batches/spring/members?from=\(next)", key: key,
            body: lines[next..<min(next + 1000, 5000)].joined(separator: "\n"))
        #expect(rest.status == 200, "\(rest.text)")
    }

    private static let wrongLines: [(line: String, code: String)] = [
        (#"{"asset":"#, "malformedJSON"),
        (#"{"asset":"zebra/1.jpg"}"#, "notFound"),
        (#"{"asset":"acme/2.jpg","edit":{"mode":"copyEdit","from":"zebra/1.jpg"}}"#, "notFound"),
        (#"{"asset":"acme/2.jpg","cost":0}"#, "invalidValue"),
        (String(repeating: "x", count: ContractLimits.jobBytesMax + 1), "oversizedField"),
    ]

    @Test(arguments: wrongLines)
    func `a wrong line is named; the others are taken`(
        _ line: String, _ code: String
    ) async throws {
        let lines = [#"{"asset":"acme/1.jpg"}"#, line, #"{"asset":"acme/3.jpg"}"#, "", line]
        let body = (lines + [#"{"asset":"acme/Scherm\u00adafbeelding.png"}"#])
            .joined(separator: "\n")
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        _ = try await rig.send("POST", "/v1/batches", key: key, json: Self.open)
        let answer = try await rig.send(
            "PUT", "/v1/batches/spring/members", key: key, body: body)
        #expect(answer.code == code && (400..<500).contains(answer.status), "\(answer.text)")
        #expect(answer.json["line"]?.number == 2 && answer.json["next"]?.number == 3)
        let refused = answer.json["refused"]?.list ?? []
        #expect(refused.map { $0["line"]?.number } == [2, 5] && refused.count == 2)
        #expect(refused.allSatisfy { $0["code"]?.text == code })
        #expect(answer.json["refusedCount"]?.number == 2)
        #expect(answer.json["added"]?.number == 3)
        let read = try await rig.send("GET", "/v1/batches/spring", key: key)
        #expect(read.json["record"]?["lane"]?.number == 3)
        // Sent again, as after an answer that was lost, the same lines have the same numbers.
        let again = try await rig.send("PUT", "/v1/batches/spring/members", key: key, body: body)
        #expect(again.json["next"]?.number == 3 && again.json["added"]?.number == 0)
    }

    /// Swift's strings are equal in any normal form, and folders are not.
    @Test func `an edit that names a folder in another normal form is checked by itself`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key(
            "acme", scopes: [.enqueue, .read], prefix: "caf\u{e9}/")
        _ = try await rig.send("POST", "/v1/batches", key: key, json: Self.open)
        func member(_ folder: String) -> String {
            #"{"asset":"caf\#u{e9}/1.jpg","edit":{"mode":"copyEdit","from":"\#(folder)/2.jpg"}}"#
        }
        let answer = try await rig.send(
            "PUT", "/v1/batches/spring/members", key: key,
            body: member("caf\u{e9}") + "\n" + member("cafe\u{301}"))
        #expect(answer.json["next"]?.number == 1, "\(answer.text)")
        #expect(answer.json["line"]?.number == 2 && answer.code == "notFound", "\(answer.text)")
    }

    @Test(arguments: [
        (#"{"id":"b","edit":{"filters":[]},"asset":"a"}"#, "unknownField", "#/asset"),
        (#"{"id":"b","edit":{"filters":[]},"cap":0}"#, "invalidValue", "#/cap"),
        (#"{"id":"b","edit":{"filters":[]},"cost":0}"#, "invalidValue", "#/cost"),
        (#"{"id":"b","edit":{"filters":[7]}}"#, "invalidValue", "#/edit/filters/0"),
        (#"{"edit":{"filters":[]}}"#, "missingField", "#/id"),
        (#"{"id":"b"}"#, "missingField", "#/edit"),
    ])
    func `what is wrong with a batch is said with code and place`(
        _ body: String, _ code: String, _ pointer: String
    ) async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let answer = try await rig.send("POST", "/v1/batches", key: key, json: body)
        #expect(answer.status == 422 && answer.code == code, "\(answer.text)")
        #expect(answer.json["pointer"]?.text == pointer, "\(answer.text)")
    }
}
