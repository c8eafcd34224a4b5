import Edits
import MinilabTesting
import Testing

@testable import JobQueue

/// Submits, plain XADDs and all that ends jobs, in any order: what was promised is kept, and what is counted is right.
@Suite("Lives of submitted jobs") struct SubmitLifeTests {
    private struct World {
        let q: QueueFixture
        var random: SeededGenerator
        /// The asset that each accepted id has.
        var promised: [String: String] = [:]
        var held: [Claim] = []

        mutating func step() async throws {
            let id = "j\(Int.random(in: 0..<12, using: &random))"
            let asset = "a\(Int.random(in: 0..<3, using: &random))"
            let tenant = ["default", "acme"].randomElement(using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3: try await submit(id, asset, tenant)
            case 4:
                let edit = try Edit(json: QueueFixture.recipe).json.canonical
                try await q.xadd(["id": id, "asset": asset, "edit": edit])
            case 5: try await q.xadd(["id": id, "asset": asset, "edit": "{}", "cost": "x"])
            case 6: _ = try await q.queue.admit()
            case 7:
                held += try await q.queue.claim(by: "w", count: 2).jobs
            case 8...9:
                guard let claim = held.popLast() else { return }
                if Bool.random(using: &random) {
                    _ = try await q.queue.commit(claim, q.event(claim), isDraft: false)
                    _ = try await q.queue.finalize(job: claim.job, fence: claim.fence)
                } else {
                    _ = try await q.queue.fail(
                        claim, by: "w", Failure(.missingAsset, "no"), random: 0)
                }
            case 10: _ = try await q.queue.cancel([id], reason: "no")
            default: _ = try await q.queue.replay([id])
            }
        }

        private mutating func submit(
            _ id: String, _ asset: String, _ tenant: String?
        ) async throws {
            let request = try SubmitTests.request(id, asset: asset, tenant: tenant) {
                $0.priority = tenant == "acme" ? .interactive : nil
            }
            switch try await q.queue.submit(request, backlogMax: 5) {
            case .accepted:
                #expect(promised[id] == nil, "\(id) was taken twice")
                promised[id] = asset
            case .conflict, .same, .notAgain, .overQuota, .overBytes: break
            }
        }

        func check() async throws {
            var open: [String: Int] = ["default": 0, "acme": 0]
            for (id, asset) in promised {
                let record = try #require(try await q.queue.record(of: id), "\(id) is lost")
                #expect(record.asset == asset, "\(id) was promised to \(asset)")
                if record.state != .done, record.state != .dead { open[record.tenant]! += 1 }
            }
            for (tenant, count) in open {
                #expect(try await q.queue.backlog(of: JobID(tenant)) == count)
            }
            let groups = try await q.queue.deadGroups()
            let dead = try await q.queue.status()[.dead]
            #expect(groups.groups.reduce(0) { $0 + $1.jobs } == dead)
        }
    }

    @Test(arguments: 0..<6)
    func `every promise is kept, the backlog is exact, and the doctor finds nothing`(
        trial: Int
    ) async throws {
        var random = SeededGenerator()
        random.printSeed()
        for _ in 0..<trial { _ = random.next() }
        var world = World(q: try await QueueFixture(), random: random)
        for _ in 0..<60 {
            try await world.step()
            try await world.check()
        }
        let diagnosis = try await world.q.queue.diagnose()
        #expect(diagnosis.open.isEmpty, "\(diagnosis.open)")
        _ = try await world.q.queue.admit()
        _ = try await world.q.queue.admit()
        #expect(try await world.q.keys("reserved") == 0)
        try await world.check()
    }
}
