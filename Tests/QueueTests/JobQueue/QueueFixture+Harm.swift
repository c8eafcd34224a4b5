import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

extension QueueFixture {
    /// Brings job `a` into a state, and admits job `b` of the same asset behind it.
    func prepare(_ state: String) async throws {
        try await xadd(["id": "a", "asset": "photo", "edit": Self.recipe])
        try await xadd(["id": "b", "asset": "photo", "edit": Self.recipe])
        _ = try await queue.admit()
        if state == "ready" { return }
        let a = try await claim()
        #expect(a.job == "a")
        switch state {
        case "active": break
        case "committing": _ = try await queue.commit(a, event(a), isDraft: false)
        case "stuck":
            _ = try await queue.commit(a, event(a), isDraft: false)
            var settings = queue.settings
            settings.carriesMax = 0
            _ = try await JobQueue(name: queue.name, redis: redis, settings: settings).handOn(
                job: "a", fence: a.fence, by: "w", Failure(.ioFailure, "the disk is gone."),
                carries: 0, random: 0)
        case "delayed":
            _ = try await queue.fail(a, by: "w", Failure(.ioFailure, "disk"), random: 1)
        case "dead": _ = try await queue.fail(a, by: "w", Failure(.missingAsset, "no"), random: 1)
        case "done": try await finish(a)
        default: Issue.record("no such state \(state)")
        }
        #expect(try await self.state(of: "a") == state)
    }

    /// Runs commands as in redis-cli; keys are called as without the queue's prefix.
    func harm(_ commands: [String]) async throws {
        for command in commands {
            var words = command.split(separator: " ").map(String.init)
            words[1] = queue.name.keys.prefix + words[1]
            _ = try await redis.send(words.map { RedisArgument($0) })
        }
    }

    /// Carries all jobs to their ends: what is held is taken back first.
    func runToTheEnd() async throws {
        for _ in 0..<500 {
            let admitted = try await queue.admit().admitted
            for zset in ["lease", "delayed"] {
                let key = RedisArgument(queue.name.keys.prefix + zset)
                for id in try await redis.send(["ZRANGE", key, "0", "-1"]).array ?? [] {
                    _ = try await redis.send([
                        "ZADD", key, "XX", "1", RedisArgument(try #require(id.string)),
                    ])
                }
            }
            for carried in try await queue.reap(by: "heir").carried {
                _ = try await queue.finalize(job: carried.job, fence: carried.fence)
            }
            let claims = try await queue.claim(by: "last", count: 50)
            for claim in claims.jobs { try await finish(claim) }
            let status = try await queue.status()
            if admitted + claims.jobs.count == 0,
                status[.incoming] + status[.ready] + status[.active] + status[.delayed] == 0
            {
                return
            }
        }
        Issue.record("the queue does not come to its end")
    }

    /// What producers and a worker do, at random, so that everything in a queue moves.
    func live(seed: UInt64, steps: Int) async throws {
        var random = SeededGenerator(seed: seed)
        var held: [Claim] = []
        for step in 0..<steps {
            let asset = "asset-\(Int.random(in: 0..<8, using: &random))"
            switch Int.random(in: 0..<12, using: &random) {
            case 0...2:
                try await xadd([
                    "asset": asset, "edit": Self.recipe,
                    "tenant": ["acme", "zoo", "default"].randomElement(using: &random) ?? "acme",
                    "priority": ["interactive", "normal", "bulk"].randomElement(using: &random)
                        ?? "bulk",
                ])
            case 3:
                try await xadd([
                    "asset": asset, "edit": Self.recipe,
                    "replace": Bool.random(using: &random) ? "waiting" : "running",
                ])
            case 4: try await xadd(["asset": asset])
            case 5:
                try await queue.set([
                    .cap(try JobID("acme"), Int.random(in: 0...2, using: &random))
                ])
            case 6:
                let batch = try BatchID("b-\(seed)-\(step / 20)")
                try await queue.open(BatchRequest(id: batch, edit: Edit(json: Self.recipe)))
                _ = try await queue.add(
                    (0..<15).map { .init(asset: try AssetPath("asset-\($0)")) }, to: batch, from: 0)
                try await queue.seal(batch, jobs: 15)
            case 7:
                let batch = try BatchID("b-\(seed)-\(max(0, step / 20 - 1))")
                _ = try await queue.cancel(batch, reason: "test")
            case 8:
                _ = try await queue.cancel(["b-\(seed)-\(step / 20):\(step % 15)"], reason: "test")
            case 9:
                let dead = try await queue.dead(offset: 0, count: 3).map(\.job)
                _ = try await queue.replay(dead)
            default: break
            }
            _ = try await queue.admit()
            held += try await queue.claim(by: "w\(seed)", count: 2, isIdle: held.isEmpty).jobs
            guard held.count > 2, let claim = held.popLast() else { continue }
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                let failure =
                    Bool.random(using: &random)
                    ? Failure(.ioFailure, "disk") : Failure(.missingAsset, "no")
                _ = try await queue.fail(claim, by: "w", failure, random: 0)
            case 1: _ = try await queue.release(job: claim.job, fence: claim.fence, .rebase)
            case 2:
                _ = try await queue.fail(claim, by: "w", Failure(.renderCrashed, "9"), random: 0)
            default:
                if try await queue.commit(claim, event(claim), isDraft: false) == .cancelled {
                    _ = try await queue.concludeCancelled(claim)
                } else {
                    _ = try await queue.finalize(job: claim.job, fence: claim.fence)
                }
            }
        }
        for claim in held {
            _ = try await queue.release(job: claim.job, fence: claim.fence, .shutdown)
        }
    }
}
