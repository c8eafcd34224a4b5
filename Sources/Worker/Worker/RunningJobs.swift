import JobQueue
import Logging
import RenderPool

/// The jobs that a worker holds: one for each slot, and some more while files are in transfer.
///
/// A job that the worker lost and claims again is listed twice, under both fences, until the render of the old hold
/// has ended. The old hold occupies its slot until then.
actor RunningJobs {
    private struct Entry {
        let hold: HeldJob
        /// The sequence number of the hold, which tells which of two holds is older.
        let number: Int
    }

    private let slots: Int
    private var ahead: ClaimAhead
    private let brake: ClaimBrake
    private var running: [Hold: Entry] = [:]
    private var begun = 0
    private var waiter: CheckedContinuation<Void, Never>?
    /// Tasks of new holds that wait until older holds have ended.
    private var successors: [CheckedContinuation<Void, Never>] = []
    private(set) var isClosed = false
    private var level = PressureLevel.calm

    /// - Parameters:
    ///   - filesTravel: whether jobs are held beyond the slots, so that their files arrive in time.
    ///   - brake: while it is pulled, no slot counts as free.
    init(slots: Int, filesTravel: Bool = false, brake: ClaimBrake = ClaimBrake()) {
        self.slots = slots
        ahead = ClaimAhead(slots: filesTravel ? slots : 0)
        self.brake = brake
        brake.onRelease { [weak self] in Task { await self?.wake() } }
    }

    /// Waits until a slot is free and memory is not short, and returns the number of jobs that may be claimed; nil
    /// if no more jobs may begin.
    func waitForFreeSlots() async -> Int? {
        while !canBegin, !isClosed { await change() }
        return isClosed ? nil : free
    }

    /// Whether a job that is claimed now could begin.
    var canBegin: Bool { free > 0 && !brake.isPulled && !isClosed }

    private var free: Int { level.claims(held: running.count, slots: slots + ahead.jobs) }

    var isIdle: Bool { running.isEmpty }

    func follow(_ level: PressureLevel) {
        self.level = level
        wake()
    }

    /// Waits until no job runs. Returns false if no more jobs may begin.
    func waitUntilIdle() async -> Bool {
        while !isIdle, !isClosed { await change() }
        return !isClosed
    }

    /// Stops the cancelled jobs that this worker holds.
    func cancel(_ messages: [ControlMessage]) {
        for message in messages {
            switch message {
            case .job(let job): end(.cancelled) { id, _ in id.job == job }
            case .batch(let batch): end(.cancelled) { _, hold in hold.batch == batch }
            case .rules, .key, .webhook: break
            }
        }
    }

    private func end(_ end: Hold.End, where matches: (Hold, HeldJob) -> Bool) {
        for (id, entry) in running where matches(id, entry.hold) { entry.hold.end(end) }
    }

    /// Prevents further jobs from beginning.
    func close() {
        isClosed = true
        wake()
    }

    /// Takes a slot, and ends an older hold of the same job: Redis has leased the job again, so that hold is lost.
    func begin(_ id: Hold, of batch: String? = nil) -> HeldJob {
        end(.lost) { older, _ in older.job == id.job }
        let hold = HeldJob(batch: batch)
        begun += 1
        running[id] = Entry(hold: hold, number: begun)
        return hold
    }

    /// Waits until the renders of all older holds of the same job have ended.
    func waitForOlder(than id: Hold) async {
        while hasOlder(than: id) { await withCheckedContinuation { successors.append($0) } }
    }

    private func hasOlder(than id: Hold) -> Bool {
        guard let own = running[id]?.number else { return false }
        return running.contains { $0.key.job == id.job && $0.value.number < own }
    }

    /// Frees a slot.
    func end(_ id: Hold) {
        if let entry = running.removeValue(forKey: id) { ahead.note(entry.hold.times) }
        for successor in successors { successor.resume() }
        successors = []
        wake()
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }

    /// Waits until all jobs have ended. Jobs that are not done within `grace` are stopped.
    func drain(grace: Duration, _ logger: Logger) async {
        let stop = Task {
            try await Task.sleep(for: grace)
            stopAll(logger)
        }
        while !isIdle { await change() }
        stop.cancel()
    }

    private func stopAll(_ logger: Logger) {
        logger.notice("handing back unfinished jobs", metadata: ["jobs": "\(running.count)"])
        for entry in running.values { entry.hold.stop() }
    }

    /// Waits until a job ends, or until claims are no longer stopped. Only the claim loop waits here, and later
    /// only `drain`.
    private func change() async {
        await withCheckedContinuation { waiter = $0 }
    }
}
