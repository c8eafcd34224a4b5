package import FoundationEssentials
package import JobQueue
import Synchronization

/// A reading of the queue that several clients share: made at most once a second, however many clients ask, and never without a
/// request.
///
/// A reading visits each flow, so with 10,000 tenants it takes Redis some 20 to 40 ms: a queue whose readings are slow is read
/// less often.
package actor SharedSnapshot {
    /// The age at which a reading is repeated, for fast and for slow readings.
    static let ages: ClosedRange<Duration> = .seconds(1) ... .seconds(5)
    /// The ratio of the pause after a reading to the time that the reading took.
    static let rest = 50

    private let queue: JobQueue
    private var last: (snapshot: QueueSnapshot, at: ContinuousClock.Instant, age: Duration)?
    private var onItsWay: Task<QueueSnapshot, any Error>?
    private var marks = FlowMarks()
    private var lastShares: (shares: [String: FlowShare], of: Date)?

    package init(_ queue: JobQueue) { self.queue = queue }

    package func current() async throws -> QueueSnapshot {
        if let last, .now - last.at < last.age { return last.snapshot }
        if let onItsWay { return try await onItsWay.value }
        // Rates over a long pause would not describe the present.
        let before = last.flatMap { .now - $0.at < .seconds(10) ? $0.snapshot : nil }
        let start = ContinuousClock.now
        let task = Task { [queue] in try await QueueSnapshot(queue, after: before) }
        onItsWay = task
        defer { if onItsWay == task { onItsWay = nil } }
        let snapshot = try await task.value
        if onItsWay == task {
            last = (snapshot, .now, Self.age(after: .now - start))
            marks.note(snapshot.status.flows, at: .now)
        }
        return snapshot
    }

    /// Returns the maximum age of a reading that took this time.
    static func age(after duration: Duration) -> Duration {
        min(max(ages.lowerBound, duration * rest), ages.upperBound)
    }

    /// Returns the work that each flow received in the last minute and the work that was due, by `<priority>:<tenant>`; empty
    /// before the second reading.
    package func shares() async throws -> [String: FlowShare] {
        let snapshot = try await current()
        if let lastShares, lastShares.of == snapshot.at { return lastShares.shares }
        guard !snapshot.status.flows.isEmpty, let before = marks.oldest else { return [:] }
        let weights = try await queue.tenantRules().compactMapValues(\.weight)
        let shares = FlowShare.shares(from: before, to: snapshot.status.flows, weights: weights)
        lastShares = (shares, snapshot.at)
        return shares
    }

    /// Drops the last reading and any reading in progress, because a change must be visible in the next one.
    package func invalidate() {
        last = nil
        onItsWay = nil
    }
}

/// The fraction of its priority's work that a flow received recently, and the fraction that was due: both from 0 to 1.
///
/// Both are computed from the flows' virtual times at two moments (start-time fair queuing). A flow that was served advances by
/// the cost of its jobs over its tenant's weight, so its work is its advance times the weight. The fraction due to a flow that
/// had jobs at both moments is its weight over the sum of the weights of all such flows.
package struct FlowShare: Sendable, Equatable {
    package let had: Double
    package let due: Double

    /// - Parameter weights: The weights of tenants with a weight other than 1.
    /// - Returns: The shares by `<priority>:<tenant>`, of flows that had jobs at both moments and are not at a cap: a cap, not
    ///   the weight, determines the work due to a flow at its cap. A priority without any work has no shares.
    package static func shares(
        from before: [QueueStatus.Flow], to after: [QueueStatus.Flow], weights: [String: Int]
    ) -> [String: FlowShare] {
        let starts = Dictionary(
            before.filter { !$0.isCapped }.map { (name($0), $0.start) }, uniquingKeysWith: max)
        var work: [String: [(flow: String, had: Double, weight: Double)]] = [:]
        for flow in after where !flow.isCapped {
            guard let start = starts[name(flow)] else { continue }
            let weight = Double(max(1, weights[flow.tenant] ?? 1))
            // Corrections of costs may move a flow back a little.
            let advance = Double(max(0, flow.start - start))
            work[flow.priority, default: []].append((name(flow), advance * weight, weight))
        }
        var shares: [String: FlowShare] = [:]
        for flows in work.values {
            let had = flows.reduce(0) { $0 + $1.had }
            let due = flows.reduce(0) { $0 + $1.weight }
            guard had > 0 else { continue }
            for flow in flows {
                shares[flow.flow] = FlowShare(had: flow.had / had, due: flow.weight / due)
            }
        }
        return shares
    }

    private static func name(_ flow: QueueStatus.Flow) -> String {
        "\(flow.priority):\(flow.tenant)"
    }
}

/// The flows of the last minute's readings, one every ten seconds, from which shares are computed.
struct FlowMarks {
    private static let step: Duration = .seconds(10)
    private static let span: Duration = .seconds(60)

    private var marks: [(at: ContinuousClock.Instant, flows: [QueueStatus.Flow])] = []

    /// Records flows if the last mark is old enough, and drops marks older than a minute.
    mutating func note(_ flows: [QueueStatus.Flow], at time: ContinuousClock.Instant) {
        marks.removeAll { time - $0.at > Self.span }
        if let last = marks.last, time - last.at < Self.step { return }
        marks.append((time, flows))
    }

    var oldest: [QueueStatus.Flow]? { marks.first?.flows }
}

/// Returns the number of workers that a queue needs, and smooths it separately for each target.
package actor ScaleDesk {
    /// The maximum number of targets whose history is kept; beyond it, the least recently requested one is dropped.
    private static let targetsMax = 16

    private let queue: JobQueue
    private let snapshots: SharedSnapshot
    private var histories: [(target: ScaleTarget, history: ScaleHistory)] = []

    package init(_ queue: JobQueue, _ snapshots: SharedSnapshot) {
        self.queue = queue
        self.snapshots = snapshots
    }

    package func advice(_ target: ScaleTarget) async throws -> ScaleAdvice {
        let advice = try await queue.scaleAdvice(target, from: try await snapshots.current().status)
        var history = ScaleHistory()
        if let index = histories.firstIndex(where: { $0.target == target }) {
            history = histories.remove(at: index).history
        }
        let settled = history.settle(advice, at: .now)
        histories.append((target, history))
        if histories.count > Self.targetsMax { histories.removeFirst() }
        return settled
    }
}

/// The state of a queue at one moment, and the events since the previous reading.
package struct QueueSnapshot: Encodable, Sendable {
    package let queue: String
    package let at: Date
    package let status: QueueStatus
    /// The differences of the counters per second; nil for the first reading.
    package let perSecond: [String: Double]?
    /// The batches that have not ended, the newest first; at most ``batchesMax``.
    package let batches: [BatchReport]
    /// The number of further batches that have not ended.
    package let moreBatches: Int

    /// The maximum number of displayed batches.
    private static let batchesMax = 20

    package init(_ queue: JobQueue, after before: QueueSnapshot?) async throws {
        let status = try await queue.status()
        let slots = status.workers.reduce(0) { $0 + $1.slots }
        let open = try await queue.batches(.open, count: Self.batchesMax)
        self.init(
            queue: queue.name.string, at: .now, status: status, after: before,
            batches: open.records.map { BatchReport($0, slots: slots) }, moreBatches: open.more)
    }

    package init(
        queue: String, at: Date, status: QueueStatus, after before: QueueSnapshot?,
        batches: [BatchReport], moreBatches: Int = 0
    ) {
        self.queue = queue
        self.at = at
        self.status = status
        self.batches = batches
        self.moreBatches = moreBatches
        perSecond = before.map { before in
            let seconds = max(at.timeIntervalSince(before.at), 0.001)
            return status.counters.reduce(into: [:]) { rates, counter in
                let passed = counter.value - (before.status.counters[counter.key] ?? 0)
                rates[counter.key] = Double(passed) / seconds
            }
        }
    }
}

/// The recent rates of a queue: a sample of its counters every ten seconds, for an hour. Prometheus has the time before.
package final class RateHistory: Sendable {
    /// The interval between two samples.
    package static let step: Duration = .seconds(10)
    /// The number of samples that are kept: those of an hour.
    package static let samplesMax = 360

    private let queue: JobQueue
    private let samples = Mutex<[[String: Int]]>([])

    package init(_ queue: JobQueue) { self.queue = queue }

    /// Takes samples until the task is cancelled; while Redis does not respond there are none.
    package func run() async {
        while !Task.isCancelled {
            do {
                let counters = try await queue.counters()
                samples.withLock { samples in
                    samples.append(counters)
                    if samples.count > Self.samplesMax { samples.removeFirst() }
                }
            } catch {
                // Rates over a gap would be wrong, so the curve starts again.
                samples.withLock { $0.removeAll() }
            }
            do { try await Task.sleep(for: Self.step) } catch { return }
        }
    }

    /// Returns the sum of the counters' rates, per second, the oldest first.
    package func rates(of counters: [String]) -> [Double] {
        let totals = samples.withLock { samples in
            samples.map { sample in counters.reduce(0) { $0 + (sample[$1] ?? 0) } }
        }
        return zip(totals, totals.dropFirst()).map { before, after in
            Double(max(0, after - before)) / (Self.step / .seconds(1))
        }
    }
}
