import Edits
import Synchronization
import Telemetry

/// The gate between a planned render and its child: memory is granted before a photo is decoded.
///
/// Any task may request memory. It waits until the bytes are free or until it is cancelled.
final class MemoryGate: Sendable {
    /// Bytes that a render may use until it releases them.
    struct Grant: Sendable {
        fileprivate let id: Int
        let bytes: Int
    }

    private struct Waiter {
        let since: ContinuousClock.Instant
        let answer: FirstAnswer<Grant>
    }

    private struct State {
        var ledger: MemoryLedger
        var waiters: [Int: Waiter] = [:]
        var reported: MemoryFigures?
    }

    /// The memory that all renders together may use.
    let budget: MemoryBudget
    private let state: Mutex<State>
    private let backlog: @Sendable (Bool) -> Void
    private let metrics: RenderMetrics

    /// The number of waiting requests from which on no more renders should begin here, since another worker may have
    /// memory for them. More than one, so that a small one that fits may still begin.
    static let waitingMax = 2

    /// Creates a gate with nothing granted.
    ///
    /// - Parameter backlog: called with `true` while further renders could not start.
    init(
        budget: MemoryBudget, metrics: RenderMetrics = RenderMetrics(),
        backlog: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.budget = budget
        self.backlog = backlog
        self.metrics = metrics
        state = Mutex(State(ledger: MemoryLedger(budget: budget.bytes)))
        state.withLock { report(&$0) }
    }

    /// The granted memory and the waiting requests, for operators.
    var figures: MemoryFigures { state.withLock { Self.figures($0.ledger) } }

    /// Bytes that are not granted.
    var free: Int { state.withLock { $0.ledger.free } }

    /// Waits until memory is free and grants it. Each grant must be released exactly once, in every case.
    ///
    /// - Throws: `exceedsMemoryBudget` if the budget is smaller than the request; `CancellationError` if the task
    ///   is cancelled first.
    ///
    /// - Parameter isLast: whether others that wait get theirs first.
    func grant(_ bytes: Int, isLast: Bool = false) async throws -> Grant {
        guard bytes <= budget.bytes else { throw budget.refusal(of: bytes) }
        try Task.checkCancellation()
        let since = ContinuousClock.now
        let answer = FirstAnswer<Grant>()
        let id = state.withLock { state in
            let (id, grants) = state.ledger.request(bytes, isLast: isLast)
            state.waiters[id] = Waiter(since: since, answer: answer)
            serve(grants, &state)
            return id
        }
        do { return try await answer.value } catch {
            state.withLock { withdraw(id, &$0) }
            throw error
        }
    }

    /// Grants memory only if it is free now.
    func grantNow(_ bytes: Int) -> Grant? {
        state.withLock { state in
            guard let grant = state.ledger.requestNow(bytes) else { return nil }
            count(grant, waited: .zero)
            report(&state)
            return Grant(id: grant.id, bytes: grant.bytes)
        }
    }

    func giveBack(_ grant: Grant) {
        state.withLock { state in serve(state.ledger.giveBack(grant.id), &state) }
    }

    /// Stops further grants, or allows them again. While they are stopped and nothing is granted, one request at a
    /// time is still served.
    func pause(_ isPaused: Bool) {
        state.withLock { state in serve(state.ledger.pause(isPaused), &state) }
    }

    private func withdraw(_ id: Int, _ state: inout State) {
        guard state.waiters.removeValue(forKey: id) != nil else { return }
        serve(state.ledger.withdraw(id), &state)
    }

    private func serve(_ grants: [MemoryLedger.Grant], _ state: inout State) {
        for grant in grants {
            guard let waiter = state.waiters.removeValue(forKey: grant.id) else {
                preconditionFailure("grant \(grant.id) has nobody who waits for it")
            }
            guard waiter.answer.give(.success(Grant(id: grant.id, bytes: grant.bytes))) else {
                // It was cancelled a moment ago.
                serve(state.ledger.giveBack(grant.id), &state)
                continue
            }
            count(grant, waited: .now - waiter.since)
        }
        report(&state)
    }

    private func count(_ grant: MemoryLedger.Grant, waited: Duration) {
        metrics.waits.record(waited / .seconds(1))
        if grant.passes > 0 { metrics.passed.add() }
    }

    /// Reports the changes, in their order.
    private func report(_ state: inout State) {
        let figures = Self.figures(state.ledger)
        guard figures != state.reported else { return }
        state.reported = figures
        metrics.set(figures)
        backlog(state.ledger.isBlocked || state.ledger.waiting.count >= Self.waitingMax)
    }

    private static func figures(_ ledger: MemoryLedger) -> MemoryFigures {
        MemoryFigures(
            budgetBytes: ledger.budget, grantedBytes: ledger.granted, waiting: ledger.waiting.count)
    }
}

extension MemoryBudget {
    /// Returns the failure of a render that needs more than the budget.
    func refusal(of bytes: Int) -> Failure {
        Failure(
            .exceedsMemoryBudget,
            "the render needs about \(megabytes(bytes)) of memory; this worker has \(self). Replay the job "
                + "where there is more, or raise --memory.", neededBytes: bytes)
    }
}

/// The memory of a pool's render children at one moment.
public struct MemoryFigures: Sendable, Equatable {
    /// The memory that they may use together, in bytes.
    public let budgetBytes: Int
    /// The memory that is granted to running renders, in bytes.
    public let grantedBytes: Int
    /// The number of renders that wait for memory.
    public let waiting: Int

    public init(budgetBytes: Int, grantedBytes: Int, waiting: Int) {
        self.budgetBytes = budgetBytes
        self.grantedBytes = grantedBytes
        self.waiting = waiting
    }
}
