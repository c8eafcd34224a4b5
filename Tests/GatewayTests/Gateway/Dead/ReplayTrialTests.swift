import AccessKeys
import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

@testable import Gateway
@testable import Operations

@Suite("Replays that are tried on a few") struct ReplayTrialTests {
    private func rigWithDead(_ count: Int) async throws -> (GatewayRig, key: String) {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read, .operate])
        try await rig.kill((0..<count).map { ("o\($0)", "acme/\($0).jpg") }, key: key)
        return (rig, key)
    }

    /// Plays a worker that ends all jobs that are ready: the first so many fail for good.
    private func work(_ rig: GatewayRig, count: Int, failing: Int) async throws {
        var left = (all: count, failing: failing)
        while left.all > 0 {
            let claims = try await rig.queue.claim(by: "w", count: left.all).jobs
            try #require(!claims.isEmpty)
            for claim in claims {
                if left.failing > 0 {
                    _ = try await rig.queue.fail(
                        claim, by: "w", Failure(.missingAsset, "still no file"), random: 0)
                    left.failing -= 1
                } else {
                    _ = try await rig.queue.conclude(
                        claim, JobEvent.NoChange(mode: .replace, version: nil, reason: "same"))
                }
                left.all -= 1
            }
        }
    }

    private func order(
        _ path: String, _ rig: GatewayRig, _ key: String, is state: String
    ) async throws -> JSONValue {
        try await eventually("the replay is \(state)") {
            let order = try await rig.send("GET", path, key: key).json
            return order["state"]?.text == state ? order : nil
        }
    }

    private func ready(_ count: Int, _ rig: GatewayRig) async throws {
        try await eventually("\(count) jobs are ready") {
            try await rig.queue.status()[.ready] == count ? () : nil
        }
    }

    @Test func `a tenth that fails again holds the others until somebody continues`() async throws {
        let (rig, key) = try await rigWithDead(30)
        let started = try await rig.send(
            "POST", "/v1/replays", key: key, json: #"{"first":20,"stopAtPercent":10}"#)
        #expect(started.status == 202, "\(started.text)")
        let path = try #require(started.header("Location"))
        try await ready(20, rig)
        _ = try await order(path, rig, key, is: "trying")
        try await work(rig, count: 20, failing: 2)
        let held = try await order(path, rig, key, is: "held")
        #expect(held["trial"]?["failed"]?.number == 2, "\(held)")
        #expect(held["message"]?.text?.contains("2 of the first 20 jobs failed again") ?? false)
        #expect(held["replayed"]?.number == 20)
        #expect(try await rig.queue.status()[.dead] == 12)
        let stranger = try await rig.key("zebra", scopes: [.operate])
        #expect(try await rig.send("POST", path + "/continue", key: stranger).status == 404)
        let continued = try await rig.send("POST", path + "/continue", key: key)
        #expect(
            continued.status == 200 && continued.json["state"]?.text == "running",
            "\(continued.text)")
        let done = try await order(path, rig, key, is: "done")
        #expect(done["replayed"]?.number == 30)
        // What failed again died after the replay was asked for.
        #expect(try await rig.queue.status()[.dead] == 2)
        #expect(try await rig.send("POST", path + "/continue", key: key).status == 409)
    }

    @Test func `the others follow by themselves when fewer fail`() async throws {
        let (rig, key) = try await rigWithDead(12)
        let started = try await rig.send("POST", "/v1/replays", key: key, json: #"{"first":11}"#)
        let path = try #require(started.header("Location"))
        try await ready(11, rig)
        try await work(rig, count: 11, failing: 1)
        let done = try await order(path, rig, key, is: "done")
        #expect(
            done["replayed"]?.number == 12 && done["trial"]?["succeeded"]?.number == 10, "\(done)")
        try await ready(1, rig)
    }

    @Test func `a held replay can be stopped, and a trial alone needs a number of jobs`()
        async throws
    {
        let (rig, key) = try await rigWithDead(3)
        let bad = try await rig.send(
            "POST", "/v1/replays", key: key, json: #"{"stopAtPercent":10}"#)
        #expect(bad.status == 400 && bad.text.contains("first"), "\(bad.text)")
        for body in [#"{"first":0}"#, #"{"first":201}"#, #"{"first":2,"stopAtPercent":101}"#] {
            #expect(try await rig.send("POST", "/v1/replays", key: key, json: body).status == 400)
        }
        let started = try await rig.send("POST", "/v1/replays", key: key, json: #"{"first":1}"#)
        let path = try #require(started.header("Location"))
        try await ready(1, rig)
        try await work(rig, count: 1, failing: 1)
        _ = try await order(path, rig, key, is: "held")
        #expect(
            try await rig.send("POST", path + "/stop", key: key).json["state"]?.text == "stopped")
        #expect(try await rig.queue.status()[.dead] == 3)
    }

    @Test
    func
        `a gateway that died amid a trial leaves it to another one, with the same jobs, each once`()
        async throws
    {
        let (rig, _) = try await rigWithDead(6)
        var order = ReplayOrder(
            id: "r1", DeadFilter(.everything), until: try await rig.queue.lastDeath(), rate: nil,
            by: "k", startedAt: 1, expected: 6, trial: ReplayTrial(first: 3, stopAtPercent: 100))
        let first = ["acme.o0", "acme.o4", "acme.o5"]
        order.trial?.jobs = first.map { ReplayTrial.Job(job: $0, generation: 1) }
        // The gateway replayed two before it died; one of them has failed again.
        #expect(try await rig.queue.replay(["acme.o0", "acme.o4"]) == [.replayed, .replayed])
        try await work(rig, count: 1, failing: 1)
        try await rig.parts.replays.add(order.leased(by: "gone", until: 1), by: nil)
        try await ready(2, rig)
        try await work(rig, count: 2, failing: 0)
        try await eventually("it is done") {
            try await rig.parts.replays.find("r1")?.state == .done ? () : nil
        }
        let trial = try #require(try await rig.parts.replays.find("r1")?.trial)
        #expect(trial.succeeded == 2 && trial.failed == 1)
        for job in first { #expect(try await rig.queue.record(of: job)?.generation == 2) }
        let status = try await rig.queue.status()
        #expect(status[.ready] == 3 && status[.dead] == 1)
    }
}
