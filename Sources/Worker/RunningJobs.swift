import JobQueue
import Logging

/// The jobs that a worker works on, at most one per slot.
actor RunningJobs {
    private let slots: Int
    private let brake: ClaimBrake
    private var holds: [String: JobHold] = [:]
    private var waiter: CheckedContinuation<Void, Never>?
    private var isClosed = false
    private var level = PressureLevel.calm

    /// - Parameter brake: while it is pulled no slot is as good as free.
    init(slots: Int, brake: ClaimBrake = ClaimBrake()) {
        self.slots = slots
        self.brake = brake
        brake.onRelease { [weak self] in Task { await self?.wake() } }
    }

    /// Waits until a slot is free and memory is not short, and says how many jobs may be claimed; nil when no more may
    /// begin.
    func waitForFreeSlots() async -> Int? {
        while free == 0 || brake.isPulled, !isClosed { await change() }
        return isClosed ? nil : free
    }

    private var free: Int { level.claims(held: holds.count, slots: slots) }

    /// Goes to another level.
    func follow(_ level: PressureLevel) {
        self.level = level
        wake()
    }

    /// Waits until no job runs; false when no more may begin.
    func waitUntilIdle() async -> Bool {
        while !holds.isEmpty, !isClosed { await change() }
        return !isClosed
    }

    /// Stops what was cancelled, if it is here.
    func hear(_ messages: [ControlMessage]) {
        for message in messages {
            switch message {
            case .job(let job): holds[job]?.end(.cancelled)
            case .batch(let batch):
                for hold in holds.values where hold.batch == batch { hold.end(.cancelled) }
            case .rules: break
            }
        }
    }

    /// No more jobs may begin.
    func close() {
        isClosed = true
        wake()
    }

    /// Takes a slot.
    func begin(_ job: String, of batch: String? = nil) -> JobHold {
        let hold = JobHold(batch: batch)
        holds[job] = hold
        return hold
    }

    /// Frees a slot.
    func end(_ job: String) {
        holds[job] = nil
        wake()
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }

    /// Waits until all jobs have ended; those that are not done within `grace` are stopped.
    func drain(grace: Duration, _ logger: Logger) async {
        let stop = Task {
            try await Task.sleep(for: grace)
            stopAll(logger)
        }
        while !holds.isEmpty { await change() }
        stop.cancel()
    }

    private func stopAll(_ logger: Logger) {
        logger.notice("handing back what is not done", metadata: ["jobs": "\(holds.count)"])
        for hold in holds.values { hold.stop() }
    }

    /// Waits for the next end of a job, or until claims are no longer held back. Only the claim loop waits, and later only the drain.
    private func change() async {
        await withCheckedContinuation { waiter = $0 }
    }
}
