import AccessKeys
import Edits
import Foundation
import MinilabTesting
import Testing

@testable import Gateway

/// Calls as nobody means them: each was answered wrongly once, or could have been.
@Suite("strangers' calls") struct StrangerTests {
    private static let job = #"{"asset":"acme/1.jpg","edit":{"filters":[]}}"#

    @Test(arguments: [
        "99999999999999999999-0", "0-99999999999999999999", "1-0", "b:99999999999999999999", "%00",
        "%2e%2e",
    ])
    func `a job that cannot be is not there`(_ id: String) async throws {
        let rig = try await GatewayRig()
        let keys = [
            try await rig.key(scopes: [.read, .enqueue]),
            try await rig.key("acme", scopes: [.read, .enqueue]),
        ]
        for key in keys {
            let read = try await rig.send("GET", "/v1/jobs/\(id)", key: key)
            #expect(read.status == 404 && read.code == "notFound", "\(read.text)")
            let cancelled = try await rig.send("POST", "/v1/jobs/\(id)/cancel", key: key)
            #expect(cancelled.status == 404, "\(cancelled.text)")
        }
    }

    @Test func `a form of somebody without a key is small`() async throws {
        let rig = try await GatewayRig()
        func sign(_ form: String) async throws -> Int {
            try await rig.send(
                "POST", "/signin", body: form,
                headers: [
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Origin": "http://127.0.0.1:\(rig.port)",
                ]
            ).status
        }
        #expect(try await sign("key=x") == 401)
        #expect(try await sign(String(repeating: "a=%41&", count: 17)) == 400)
        #expect(try await sign("key=" + String(repeating: "+", count: 5_000)) == 413)
    }

    @Test func `a head of many cookies takes a time that grows with its bytes`() async throws {
        let rig = try await GatewayRig()
        func time(_ cookies: Int) async throws -> Duration {
            let line = String(repeating: "a=b; ", count: cookies)
            return try await ContinuousClock().measure {
                let answer = try await rig.send("GET", "/", headers: ["Cookie": line])
                #expect(answer.status < 500)
            }
        }
        // Were it the square, eight times the cookies would take 64 times as long: 2.7 s.
        let short = try await time(400)
        let long = try await time(3_200)
        #expect(long < short * 20 + .milliseconds(800), "\(short), \(long)")
    }

    @Test(
        .enabled(
            if: ProcessInfo.processInfo.activeProcessorCount < 4,
            "where there is one turn, it is taken here"))
    func `a large body is parsed in its caller's turn, and a small one at once`()
        async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        let nested = String(repeating: "[[]],", count: 20_000)
        let large = #"{"asset":"acme/1.jpg","edit":{"filters":[\#(nested)[]]}}"#
        let answer = try await rig.send("POST", "/v1/jobs", key: key, json: large)
        #expect(answer.status == 422, "\(answer.text.prefix(300))")
        // All turns are taken: a large body waits, a small one does not.
        let turns = rig.parts.permits.readings
        let owner = try await rig.parts.keys.authenticate(key).owner
        try await turns.enter(owner)
        let small = try await rig.send("POST", "/v1/jobs", key: key, json: Self.job)
        #expect(small.status == 202 || small.status == 201 || small.status == 200)
        let waiting = Task { try await rig.send("POST", "/v1/jobs", key: key, json: large) }
        try await eventually("it waits for its turn") { turns.waitingCount > 0 ? true : nil }
        turns.leave(owner)
        #expect(try await waiting.value.status == 422)
    }

    @Test func `digits of other scripts make no time`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        for field in ["notBefore", "deadline"] {
            let text =
                #"{"asset":"acme/1.jpg","edit":{"filters":[]},"\#(field)":"٢٠٢٦-11-21T06:00:00Z"}"#
            let answer = try await rig.send("POST", "/v1/jobs", key: key, json: text)
            #expect(answer.status == 422 && answer.json["pointer"]?.text == "#/\(field)")
        }
    }

    @Test func `a wait may be quoted and have parameters, and only a number is one`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        for wait in [#"wait="0""#, "wait=0; a=b", "respond-async, WAIT = 0", ",,", "wait-1"] {
            let answer = try await rig.send(
                "POST", "/v1/jobs", key: key, json: Self.job, headers: ["Prefer": wait])
            #expect([200, 202].contains(answer.status), "\(wait): \(answer.text)")
        }
        for wait in ["wait", "wait=", "wait=-1", "wait=1.5", #"wait=""#] {
            let answer = try await rig.send(
                "POST", "/v1/jobs", key: key, json: Self.job, headers: ["Prefer": wait])
            #expect(answer.code == "badParameter", "\(wait): \(answer.text)")
        }
    }

    @Test func `a key's terms with a field that nobody knows make no key`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.admin])
        func make(_ terms: String) async throws -> GatewayRig.Answer {
            try await rig.send("POST", "/v1/keys", key: key, json: terms)
        }
        let end = try await make(#"{"scopes":["read"],"assetPrefix":"","expires":1}"#)
        #expect(end.status == 422 && end.code == "unknownField")
        let quota = try await make(#"{"scopes":["read"],"assetPrefix":"","quotas":{"rate":1}}"#)
        #expect(quota.status == 422 && quota.code == "unknownField")
        let missing = try await make(#"{"scopes":["read"]}"#)
        #expect(missing.code == "invalidValue")
        #expect(missing.json["detail"]?.text?.hasPrefix("assetPrefix is missing") ?? false)
    }

    @Test func `times of a replay are whole milliseconds that a calendar has`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.operate])
        for time in ["1e300", "-1", "1.5", "253402300800000"] {
            let answer = try await rig.send(
                "POST", "/v1/replays", key: key, json: #"{"dryRun":true,"until":\#(time)}"#)
            #expect(answer.status == 400 && answer.code == "badBody", "\(time): \(answer.text)")
        }
    }

    @Test func `an empty place is none, and a wrong one is told beside a right one`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(scopes: [.read])
        let empty = try await rig.send(
            "GET", "/v1/events", key: key, headers: ["Last-Event-ID": ""])
        #expect(empty.status == 200, "\(empty.text)")
        let wrong = try await rig.send(
            "GET", "/v1/events?after=zzz", key: key, headers: ["Last-Event-ID": "0-0"])
        #expect(wrong.code == "badParameter")
    }
}
