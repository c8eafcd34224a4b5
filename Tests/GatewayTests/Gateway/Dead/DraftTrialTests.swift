import AccessKeys
import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

@testable import Gateway

@Suite("a dead job's edit tried as a draft") struct DraftTrialTests {
    private func rigWithDead() async throws -> (GatewayRig, key: String) {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read, .operate])
        try await rig.kill([("o1", "acme/1.jpg")], key: key)
        return (rig, key)
    }

    @Test func `a job of its own makes the draft, and the dead one stays dead`() async throws {
        let (rig, key) = try await rigWithDead()
        let answer = try await rig.send("POST", "/v1/jobs/o1/draft", key: key)
        #expect(answer.status == 202, "\(answer.text)")
        let job = try #require(answer.json["job"]?.text)
        #expect(job.hasPrefix("acme.j") && answer.header("Location") == "/v1/jobs/\(job)")
        _ = try await rig.queue.admit()
        let claim = try #require(try await rig.queue.claim(by: "w", count: 5).jobs.first)
        #expect(
            claim.job == job && claim.asset == "acme/1.jpg" && claim.edit.contains("\"draft\":true")
        )
        #expect(claim.edit.contains("CISepiaTone"))
        #expect(try await rig.queue.record(of: "acme.o1")?.state == .dead)
        let other = try await rig.send(
            "POST", "/v1/jobs/o1/draft", key: key,
            json: #"{"withEdit":{"filters":[{"name":"CIColorInvert"}]}}"#)
        #expect(other.status == 202, "\(other.text)")
        _ = try await rig.queue.admit()
        let second = try await rig.queue.claim(by: "w", count: 5).jobs.first
        // One job of an asset at a time.
        #expect(second == nil)
    }

    @Test func `the draft has the renditions of the dead job's edit, and its values`() async throws
    {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read, .operate])
        let sent = try await rig.send(
            "POST", "/v1/jobs", key: key,
            json:
                #"{"id":"o1","asset":"acme/1.jpg","fields":{"order":"77"},"edit":{"filters":[{"name":"CISepiaTone"}],"renditions":{"web":{"box":[9,9]}}}}"#
        )
        try #require(sent.status == 202, "\(sent.text)")
        _ = try await rig.queue.admit()
        let first = try #require(try await rig.queue.claim(by: "w", count: 5).jobs.first)
        #expect(first.fields?.contains("77") == true)
        _ = try await rig.queue.fail(
            first, by: "w", Failure(.missingAsset, "no file"), random: 0)
        let answer = try await rig.send("POST", "/v1/jobs/o1/draft", key: key)
        #expect(answer.status == 202, "\(answer.text)")
        _ = try await rig.queue.admit()
        let claim = try #require(try await rig.queue.claim(by: "w", count: 5).jobs.first)
        let edit = try Edit(json: claim.edit)
        #expect(edit.isDraft && edit.renditions.names == ["web"])
        #expect(claim.fields == first.fields)
    }

    /// Both find no draft; the second draft would take the place of the first one.
    @Test func `of edits that are tried at the same moment one alone is taken`() async throws {
        let (rig, key) = try await rigWithDead()
        let edits = (0..<8).map {
            #"{"withEdit":{"filters":[{"name":"CIExposureAdjust","inputEV":0.\#($0 + 1)}]}}"#
        }
        let answers = try await withThrowingTaskGroup(of: GatewayRig.Answer.self) { group in
            for edit in edits {
                group.addTask {
                    try await rig.send("POST", "/v1/jobs/o1/draft", key: key, json: edit)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let taken = answers.filter { $0.status == 202 }.compactMap { $0.json["job"]?.text }
        #expect(answers.allSatisfy { [202, 409].contains($0.status) }, "\(answers.map(\.text))")
        // A call that began after another one had ended is another trial, as before.
        #expect(!taken.isEmpty && Set(taken).count == taken.count)
        let names = taken.sorted()
        #expect(names.first?.hasSuffix("-1") == true, "\(names)")
        let again = try await rig.send("POST", "/v1/jobs/o1/draft", key: key, json: edits[0])
        #expect(again.status == 202 && !taken.contains(again.json["job"]?.text ?? ""))
    }

    @Test func `what is not dead, is another's or makes no draft is refused`() async throws {
        let (rig, key) = try await rigWithDead()
        try await rig.post("waits", "acme/2.jpg", key: key)
        let waiting = try await rig.send("POST", "/v1/jobs/waits/draft", key: key)
        #expect(waiting.status == 409 && waiting.code == "tooLate", "\(waiting.text)")
        let undo = try await rig.send(
            "POST", "/v1/jobs/o1/draft", key: key, json: #"{"withEdit":{"mode":"undo"}}"#)
        #expect(undo.status == 409 && undo.text.contains("undo"), "\(undo.text)")
        let border = try await rig.send(
            "POST", "/v1/jobs/o1/draft", key: key,
            json: #"{"withEdit":{"mode":"copyEdit","from":"zebra/1.jpg"}}"#)
        #expect(border.status == 404, "\(border.text)")
        for body in [#"{"edit":{}}"#, "[]", #"{"withEdit":7}"#] {
            let bad = try await rig.send("POST", "/v1/jobs/o1/draft", key: key, json: body)
            #expect((400...422).contains(bad.status), "\(bad.text)")
        }
        let stranger = try await rig.key("zebra", scopes: [.enqueue, .read, .operate])
        #expect(try await rig.send("POST", "/v1/jobs/acme.o1/draft", key: stranger).status == 404)
        let reader = try await rig.key("acme", scopes: [.enqueue, .read])
        #expect(try await rig.send("POST", "/v1/jobs/o1/draft", key: reader).status == 403)
        #expect(try await rig.queue.status()[.incoming] == 1)
    }

    @Test func `the pages of the job and of the replay offer it`() async throws {
        let (rig, key) = try await rigWithDead()
        let browser = try await Browser(rig, key: key)
        for path in ["/jobs/acme.o1", "/dead/replay"] {
            #expect(try await browser.get(path).body.contains(#"action="/jobs/acme.o1/draft""#))
        }
        let answer = try await browser.post("/jobs/acme.o1/draft")
        #expect(answer.status == 303 && answer.head.contains("\r\nlocation: /jobs/acme.j"))
    }
}
