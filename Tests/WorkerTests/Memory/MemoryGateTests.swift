import Edits
import MinilabTesting
import Synchronization
import Telemetry
import Testing

@testable import RenderPool
@testable import Worker

@Suite("Memory gate") struct MemoryGateTests {
    private static let megabyte = 1 << 20

    /// A gate of 100 MB, and what it tells.
    private final class Bench: Sendable {
        let heard = Heard()
        let gate: MemoryGate
        let brake: ClaimBrake

        init() throws {
            let heard = heard
            let metrics = WorkerMetrics(
                Metrics { metric, value, _ in heard.add(metric, value) })
            brake = ClaimBrake(metrics: metrics)
            gate = MemoryGate(
                budget: try MemoryBudget(
                    setting: 100 * megabyte, limit: nil, used: 0, available: nil),
                metrics: metrics.rendering,
                backlog: { [brake] in brake.pullForMemory($0) })
        }

        func waitFor(waiting count: Int) async throws {
            try await eventually("\(count) wait") { gate.figures.waiting == count ? () : nil }
        }
    }

    private final class Heard: Sendable {
        private let changes = Mutex<[(metric: String, value: Double)]>([])
        func add(_ metric: String, _ value: Double) {
            changes.withLock { $0.append((metric, value)) }
        }
        /// The values that a metric was set to, in their order.
        func values(of metric: String) -> [Double] {
            changes.withLock { $0.filter { $0.metric == metric }.map(\.value) }
        }
    }

    @Test func `one that does not fit waits until enough is given back`() async throws {
        let bench = try Bench()
        let first = try await bench.gate.grant(60 * Self.megabyte)
        let second = Task { try await bench.gate.grant(60 * Self.megabyte) }
        try await bench.waitFor(waiting: 1)
        #expect(bench.gate.figures.grantedBytes == 60 * Self.megabyte)
        bench.gate.giveBack(first)
        bench.gate.giveBack(try await second.value)
        #expect(bench.gate.figures.grantedBytes == 0)
    }

    @Test func `more than there ever is ends at once, with the figures`() async throws {
        let bench = try Bench()
        let failure = await #expect(throws: Failure.self) {
            try await bench.gate.grant(200_000_000)
        }
        #expect(failure?.code == .exceedsMemoryBudget)
        #expect(failure?.code.isPermanent == true)
        #expect(failure?.message.contains("needs about 200 MB") == true)
        #expect(failure?.message.contains("105 MB for render children") == true)
        #expect(bench.gate.figures.waiting == 0)
    }

    @Test func `who is cancelled while it waits leaves its place`() async throws {
        let bench = try Bench()
        let running = try await bench.gate.grant(60 * Self.megabyte)
        let big = Task { try await bench.gate.grant(100 * Self.megabyte) }
        try await bench.waitFor(waiting: 1)
        let other = Task { try await bench.gate.grant(50 * Self.megabyte) }
        try await bench.waitFor(waiting: 2)
        big.cancel()
        await #expect(throws: CancellationError.self) { try await big.value }
        #expect(bench.gate.figures.waiting == 1)
        bench.gate.giveBack(running)
        bench.gate.giveBack(try await other.value)
    }

    @Test func `who is cancelled before it asks gets nothing`() async throws {
        let bench = try Bench()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await bench.gate.grant(1)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.gate.figures.grantedBytes == 0)
    }

    @Test func `claims are held back while two jobs wait, and go on after`() async throws {
        let bench = try Bench()
        let running = try await bench.gate.grant(100 * Self.megabyte)
        let first = Task { try await bench.gate.grant(50 * Self.megabyte) }
        try await bench.waitFor(waiting: 1)
        #expect(!bench.brake.isPulled)
        let second = Task { try await bench.gate.grant(50 * Self.megabyte) }
        try await eventually("the brake is pulled") { bench.brake.isPulled ? () : nil }
        bench.gate.giveBack(running)
        #expect(!bench.brake.isPulled)
        bench.gate.giveBack(try await first.value)
        bench.gate.giveBack(try await second.value)
        #expect(bench.heard.values(of: "minilab_claims_held") == [1, 0])
    }

    @Test func `each change is told in its order, and the budget was never exceeded`() async throws
    {
        let bench = try Bench()
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask {
                    do {
                        let grant = try await bench.gate.grant((10 + index % 90) * Self.megabyte)
                        await Task.yield()
                        bench.gate.giveBack(grant)
                    } catch {
                        // The cancelled ones.
                    }
                }
                if index % 17 == 0 {
                    let task = Task { try await bench.gate.grant(90 * Self.megabyte) }
                    task.cancel()
                    group.addTask {
                        if case .success(let grant) = await task.result {
                            bench.gate.giveBack(grant)
                        }
                    }
                }
            }
        }
        let granted = bench.heard.values(of: "minilab_memory_granted_bytes")
        #expect(granted.allSatisfy { $0 <= Double(bench.gate.budget.bytes) })
        #expect(granted.last == 0)
        #expect(bench.heard.values(of: "minilab_memory_waiting").last == 0)
        #expect(bench.gate.figures.grantedBytes == 0 && bench.gate.figures.waiting == 0)
    }

    @Test func `a job in the worker waits for claims to go on`() async throws {
        let brake = ClaimBrake()
        let jobs = RunningJobs(slots: 2, brake: brake)
        brake.pull(true, for: .memory)
        let waiting = Task { await jobs.waitForFreeSlots() }
        brake.pull(false, for: .memory)
        #expect(await waiting.value == 2)
        brake.pull(true, for: .memory)
        let closing = Task { await jobs.waitForFreeSlots() }
        await jobs.close()
        #expect(await closing.value == nil)
    }
}
