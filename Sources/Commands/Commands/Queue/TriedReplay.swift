import ArgumentParser
import Edits
import Glibc
import JobQueue
import Logging
import Operations
import Redis
import Telemetry

/// A replay that is tried on a few jobs first. It is an order in Redis, as a gateway's clients make them: if the command is ended,
/// a gateway carries the order on, or the same command with `--continue`.
struct TriedReplay: Sendable {
    let json: Bool

    /// The interval at which an order that a gateway executes is looked at.
    private static let interval: Duration = .seconds(1)

    /// Makes an order and executes it.
    func start(
        _ filter: DeadFilter, _ trial: ReplayTrial, edit: Edit?, rate: Int?, _ options: QueueOptions
    ) async throws {
        try await options.withQueue { queue, redis in
            let store = try await ReplayStore(
                redis: redis, queue: queue.name, at: GatewayRecords(queue).keys())
            var filter = filter
            // A job that dies after this moment is not part of this replay: the first ones may die again.
            let last = try await queue.lastDeath()
            let until = min(filter.until ?? last, last)
            filter.until = until
            let tally = try await DeadTally(filter, on: queue)
            guard tally.count > 0 else {
                return StandardError.write("no dead job is selected: nothing is replayed")
            }
            let order = ReplayOrder(
                id: ReplayOrder.newID(), filter, until: until, withEdit: edit, rate: rate,
                by: "minilab replay", startedAt: try await queue.now(), expected: tally.count,
                trial: trial)
            try await store.add(order, by: nil)
            await CommandAudit(redis, queue.name).note(
                "replay",
                "\(order.id): \(counted(tally.count, "job")), the first \(trial.first) tried before"
            )
            StandardError.write(
                "replay \(order.id): tries the first \(min(trial.first, tally.count)) of \(counted(tally.count, "dead job")). If this "
                    + "command is ended, a gateway goes on, or: minilab replay --continue \(order.id)"
            )
            try await finish(order.id, store, queue)
        }
    }

    /// Continues an order that is held, or that nobody executes.
    func goOn(_ id: String, _ options: QueueOptions) async throws {
        try await options.withQueue { queue, redis in
            let store = try await ReplayStore(
                redis: redis, queue: queue.name, at: GatewayRecords(queue).keys())
            guard let order = try await store.goOn(id, by: "minilab replay") else {
                throw Self.unknown(id)
            }
            guard order.state.isOpen else {
                throw CommandError(
                    "replay \(id) has ended (\(order.state.rawValue)): there is nothing to continue."
                )
            }
            await CommandAudit(redis, queue.name).note("continueReplay", id)
            try await finish(id, store, queue)
        }
    }

    /// Executes an order, or watches the gateway that does, and prints the result.
    private func finish(_ id: String, _ store: ReplayStore, _ queue: JobQueue) async throws {
        let runner = ReplayRunner(
            store: store, queue: queue, name: "minilab-replay-\(id)-\(getpid())",
            logger: Logger(label: "minilab"))
        var told: String?
        while true {
            guard let order = try await runner.run(id) else { throw Self.unknown(id) }
            if let trial = order.trial, trial.text != told {
                told = trial.text
                StandardError.write(trial.text)
            }
            if !order.state.isOpen { return try report(order) }
            try await Task.sleep(for: Self.interval)
        }
    }

    private func report(_ order: ReplayOrder) throws {
        if json { try printJSON(order) } else { print(order.text) }
        guard order.state == .done else { throw ExitCode(1) }
    }

    private static func unknown(_ id: String) -> CommandError {
        CommandError(
            "there is no replay \(id.debugDescription): its id is wrong, or it ended long ago.")
    }
}

extension ReplayOrder {
    /// The result for a person at a terminal.
    fileprivate var text: String {
        let counts =
            counted(replayed, "job") + " of \(expected) replayed"
            + (refused > 0 ? "; \(refused) cannot be" : "")
        return switch state {
        case .held:
            "held: \(message ?? "") \(counts). minilab dead lists what failed; minilab replay --continue \(id) goes on with the rest."
        case .done: counts
        case .running, .trying, .stopped, .failed:
            "\(state.rawValue): \(counts)" + (message.map { ". \($0)" } ?? "")
        }
    }
}
