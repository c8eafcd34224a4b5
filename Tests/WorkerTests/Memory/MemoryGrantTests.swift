import Edits
import Foundation
import Glibc
import Library
import MinilabTesting
import RenderProtocol
import Synchronization
import SystemPackage
import Telemetry
import Testing

@testable import Editing
@testable import RenderPool

@Suite("Memory granted to renders") struct MemoryGrantTests {
    private static let megabyte = 1 << 20
    private static let sepia = #"{"filters":[{"name":"CISepiaTone"}]}"#

    /// What a pool tells of memory and children.
    private final class Heard: Sendable {
        private struct State {
            var memory: [MemoryFigures] = []
            var budget = 0
            var granted = 0
            var children = 0
            var childrenMost = 0
        }

        private let state = Mutex(State())

        func add(_ metric: String, _ value: Double) {
            state.withLock { state in
                switch metric {
                case "minilab_memory_budget_bytes": state.budget = Int(value)
                case "minilab_memory_granted_bytes": state.granted = Int(value)
                case "minilab_memory_waiting":
                    state.memory.append(
                        MemoryFigures(
                            budgetBytes: state.budget, grantedBytes: state.granted,
                            waiting: Int(value)))
                case "minilab_child_starts_total":
                    state.children += 1
                    state.childrenMost = max(state.childrenMost, state.children)
                case "minilab_child_ends_total": state.children -= 1
                default: break
                }
            }
        }

        var memory: [MemoryFigures] { state.withLock { $0.memory } }
        var children: Int { state.withLock { $0.children } }
        var childrenMost: Int { state.withLock { $0.childrenMost } }
    }

    private func bench(_ megabytes: Int) throws -> (Workbench, Heard) {
        let heard = Heard()
        let bench = try Workbench(
            inMemory: true, memory: megabytes * Self.megabyte,
            metrics: RenderMetrics(Metrics { metric, value, _ in heard.add(metric, value) }))
        return (bench, heard)
    }

    @Test func `with memory for one, photos that come at once are done one after the other`()
        async throws
    {
        let (bench, heard) = try bench(76)
        let assets = try (0..<6).map {
            try bench.put("\($0).png", SyntheticPhoto.png(width: 300, height: 200, seed: $0))
        }
        try await withThrowingTaskGroup { group in
            for asset in assets {
                group.addTask { _ = try await bench.edit(asset, Self.sepia) }
            }
            try await group.waitForAll()
        }
        for asset in assets { #expect(try await bench.current(asset) != nil) }
        // A child needs more than half of the budget, so two grants would be more than all of it.
        #expect(2 * MemoryBudget.childBytes > 76 * Self.megabyte)
        #expect(heard.memory.allSatisfy { $0.grantedBytes <= $0.budgetBytes })
        #expect(heard.memory.contains { $0.waiting > 0 })
        #expect(heard.childrenMost == 1)
        #expect(heard.memory.last?.grantedBytes == 0)
        await bench.pool.close()
    }

    @Test func `a render over the whole budget ends at once with the figure, and the next goes on`()
        async throws
    {
        let (bench, heard) = try bench(76)
        let big = try bench.put("big.png", SyntheticPhoto.png(width: 1600, height: 1200))
        let failure = await #expect(throws: Failure.self) {
            // Its encoder holds the picture whole.
            try await bench.edit(big, #"{"filters":[],"output":{"format":"jxl"}}"#)
        }
        #expect(failure?.code == .exceedsMemoryBudget)
        #expect(failure?.message.contains("MB") == true)
        #expect(heard.memory.allSatisfy { $0.grantedBytes <= $0.budgetBytes })
        let small = try bench.put("small.png", SyntheticPhoto.png(width: 30, height: 20))
        _ = try await bench.edit(small, Self.sepia)
        #expect(try await bench.current(small) != nil)
        await bench.pool.close()
    }

    @Test func `previews count: what decodes a photo for them asks for that, too`() async throws {
        let (bench, heard) = try bench(512)
        let photo = try Data(contentsOf: Contract.folder.appending(path: "photos/waterfall.jpg"))
        let asset = try bench.put("a.jpg", photo)
        _ = try await bench.edit(
            asset, #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[256]}}"#)
        let plan = try await bench.pool.inspect(
            PhotoRequest(
                recipe: try Recipe(filters: [Filter("CISepiaTone")]), limits: RenderLimits()),
            RenderFiles(sources: [bench.library.openOriginal(of: asset)]),
            for: Borrower(.operator))
        let most = heard.memory.map(\.grantedBytes).max() ?? 0
        #expect(most >= plan.memoryBytes)
        #expect(try #require(try await bench.current(asset)?.content).previews.count == 1)
        await bench.pool.close()
    }

    @Test func `an idle child ends when a render needs its memory`() async throws {
        let (bench, heard) = try bench(76)
        let asset = try bench.put("a.png", SyntheticPhoto.png(width: 30, height: 20))
        _ = try await bench.edit(asset, Self.sepia)
        let before = heard.childrenMost
        try await bench.pool.lend(76 * Self.megabyte, to: Borrower(.operator)) { _ in
            #expect(heard.children <= 1)
        }
        #expect(before == 1)
        #expect(heard.childrenMost == 1)
        #expect(bench.pool.gate.free == 76 * Self.megabyte)
        await bench.pool.close()
        #expect(heard.children == 0)
    }

    @Test func `a job that runs alone gets all the memory, and says how far it is`() async throws {
        let (bench, heard) = try bench(256)
        let asset = try bench.put("a.png", SyntheticPhoto.png(width: 30, height: 20))
        let stages = Mutex<[EditStage]>([])
        var job = bench.job()
        job.isExclusive = true
        job.reach = { stage in stages.withLock { $0.append(stage) } }
        _ = try await bench.run(try Edit(json: Self.sepia), asset, job)
        #expect(heard.memory.map(\.grantedBytes).max() == 256 * Self.megabyte)
        #expect(
            stages.withLock { $0 } == [.waiting, .rendering, .waiting, .rendering, .publishing])
        await bench.pool.close()
    }

    @Test func `memory comes back from a job that is cancelled while it renders, or waits`()
        async throws
    {
        let (bench, _) = try bench(76)
        let asset = try bench.put("a.png", SyntheticPhoto.png(width: 2000, height: 1500))
        let jobs = (0..<4).map { _ in
            Task { try await bench.edit(asset, #"{"filters":[{"name":"CIGaussianBlur"}]}"#) }
        }
        try await eventually("one waits") {
            bench.pool.gate.figures.waiting > 0 ? () : nil
        }
        for job in jobs { job.cancel() }
        for job in jobs { _ = await job.result }
        #expect(bench.pool.gate.figures.grantedBytes == 0)
        #expect(bench.pool.gate.figures.waiting == 0)
        await bench.pool.close()
    }

    @Test func `what a process holds is read as the kernel writes it`() {
        let held = RenderProcess.Memory(statm: "22000 12000 9000 30 0 4000 0\n")
        #expect(held.resident == 12000 * Int(getpagesize()))
        #expect(held.own == 3000 * Int(getpagesize()))
        #expect(RenderProcess.Memory(statm: "").resident == 0)
    }

    @Test func `a child that has read a header holds what is said of it`() async throws {
        let (bench, _) = try bench(512)
        let asset = try bench.put("a.png", SyntheticPhoto.png(width: 30, height: 20))
        _ = try await bench.pool.inspect(
            PhotoRequest(recipe: Recipe(filters: []), limits: RenderLimits()),
            RenderFiles(sources: [bench.library.openOriginal(of: asset)]),
            for: Borrower(.operator))
        let held = try #require(await bench.pool.idle.first?.memory)
        #expect(held.resident > MemoryBudget.childBytes / 4)
        #expect(held.own > 0 && held.own < MemoryBudget.childBytes)
        await bench.pool.close()
    }
}
