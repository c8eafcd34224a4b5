import Edits
import JobQueue
import Logging
import MinilabTesting
import Redis
import ServiceLifecycle
import Synchronization
import SystemPackage

@testable import RenderPool
@testable import Worker

/// A worker whose renders take until a test ends them, or until they are stopped.
struct WorkerFixture: Sendable {
    let f: RunnerFixture
    let log = RenderLog()
    private let slots: Int
    private let pace: FleetPace

    /// - Parameter isWoken: whether nothing happens by itself: the worker looks for nothing, and its heartbeats hear
    ///   nothing, within hours.
    init(slots: Int, isWoken: Bool = false) async throws {
        f = try await RunnerFixture { if isWoken { $0.lease = .seconds(36_000) } }
        pace = isWoken ? FleetPace(floor: .seconds(36_000)) : FleetPace()
        self.slots = slots
    }

    /// Runs the worker while a test does something.
    func whileRunning(_ body: () async throws -> Void) async throws {
        let log = log
        let handler = FakeHandler(make: { claim in
            try await log.render(claim.job)
            return .version(.made(claim), isDraft: false)
        })
        var settings = WorkerSettings(name: "w", renderExecutable: "/none")
        settings.rendering.slots = slots
        settings.shutdownGrace = .zero
        let logger = Logger(label: "test")
        let clients = f.clients(4)
        var worker = Worker(
            queue: f.queue, handler: handler, ingressReads: clients[0], wakeReads: clients[1],
            controlReads: clients[2],
            heartbeat: Heartbeat(
                queue: f.queue, redis: clients[3], worker: WorkerInfo(settings), logger: logger),
            settings: settings, logger: logger)
        worker.pace = pace
        let group = ServiceGroup(services: [worker], logger: logger)
        let running = Task { try await group.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await group.triggerGracefulShutdown()
        try await running.value
        for client in clients { await client.close() }
        try result.get()
    }

    /// Sends a job under an id.
    func send(
        _ job: String, asset: String, _ scheduling: Scheduling = Scheduling()
    ) async throws {
        _ = try await f.queue.enqueue(
            JobRequest(
                id: JobID(job), asset: AssetPath(asset),
                edit: Edit(json: #"{"filters":[{"name":"CISepiaTone"}]}"#), scheduling: scheduling))
    }

    /// Sends many jobs of assets of their own, of another tenant.
    func flood(_ count: Int) async throws {
        for first in stride(from: 0, to: count, by: 1000) {
            let commands = (first..<min(first + 1000, count)).map { number -> [RedisArgument] in
                [
                    "XADD", RedisArgument(f.queue.name.keys.ingress), "*", "asset",
                    RedisArgument("flood/\(number).jpg"), "edit", "{}", "tenant", "flood",
                ]
            }
            for result in await f.redis.sendAll(commands) { _ = try result.get() }
        }
    }

    /// Waits until a job is admitted.
    func admitted(_ job: String) async throws {
        while try await f.queue.record(of: job) == nil { await Task.yield() }
    }
}

/// What the renders of a worker do, and the way to end them.
final class RenderLog: Sendable {
    enum Entry: Equatable {
        case began(String)
        case ended(String)
        case stopped(String)
    }

    private struct State {
        var entries: [Entry] = []
        var renders: [String: CheckedContinuation<Void, Never>] = [:]
        var stopped: Set<String> = []
        var listeners: [AsyncStream<[Entry]>.Continuation] = []
    }

    private let state = Mutex(State())

    var all: [Entry] { state.withLock { $0.entries } }
    /// How many renders have begun.
    var begun: Int { all.count { if case .began = $0 { true } else { false } } }

    /// Waits for what a test waits for.
    func wait(until holds: ([Entry]) -> Bool) async {
        let (changes, listener) = AsyncStream<[Entry]>.makeStream()
        state.withLock {
            $0.listeners.append(listener)
            listener.yield($0.entries)
        }
        for await entries in changes where holds(entries) { break }
    }

    /// Ends one render that goes on.
    func endOne() { state.withLock { $0.renders.popFirst()?.value }?.resume() }

    fileprivate func render(_ job: String) async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isStopped = state.withLock { state in
                    if state.stopped.remove(job) != nil { return true }
                    state.renders[job] = continuation
                    return false
                }
                add(.began(job))
                if isStopped { continuation.resume() }
            }
        } onCancel: {
            let render = state.withLock { state in
                let render = state.renders.removeValue(forKey: job)
                if render == nil { state.stopped.insert(job) }
                return render
            }
            render?.resume()
        }
        add(Task.isCancelled ? .stopped(job) : .ended(job))
        try Task.checkCancellation()
    }

    private func add(_ entry: Entry) {
        state.withLock { state in
            state.entries.append(entry)
            for listener in state.listeners { listener.yield(state.entries) }
        }
    }
}
