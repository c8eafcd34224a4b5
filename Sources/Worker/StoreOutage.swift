import Adjustments
import Logging

/// Holds a worker's claims back while the place of its versions cannot be used, and asks it now and then: the store does
/// not answer or refuses the worker, its scratch folder is full, or the folder
/// where versions are made cannot be written.
///
/// Jobs that met the outage go back without an attempt burnt; a version that is committed waits for the end here, since
/// nobody else could publish it either. A store that answers everything but one job's requests is not away: that
/// attempt fails as any other, or a few such jobs would keep all others waiting for ever.
actor StoreOutage {
    private let handler: any JobHandler
    private let brake: ClaimBrake
    private let logger: Logger
    private let listener: WorkerEvent.Listener
    private let pause: Duration
    private var asking: Task<Void, Never>?
    private var isClosed = false
    /// The sentence that was told last; nil when there is no outage.
    private var trouble: String?

    /// Between two questions. Source: one probe a second while a store is away, ``BlobStore``'s own budget being spent.
    static let pauseStandard = Duration.seconds(1)

    init(
        handler: any JobHandler, brake: ClaimBrake, logger: Logger,
        listener: @escaping WorkerEvent.Listener, pause: Duration = pauseStandard
    ) {
        self.handler = handler
        self.brake = brake
        self.logger = logger
        self.listener = listener
        self.pause = pause
    }

    /// Finds out whether the store cannot be used, after a job has failed; then claims are held back.
    ///
    /// - Returns: false when it can, or the failure has nothing to do with it.
    func begins(_ failure: Failure) async -> Bool {
        guard Self.isOutage(failure) else { return false }
        guard asking == nil, !isClosed else { return true }
        do throws(Failure) {
            try await handler.reach()
            return false
        } catch {
            guard Self.isOutage(error) else { return false }
        }
        begin(failure)
        return true
    }

    /// Whether it may be a failure of all jobs, and not of one: the store is asked, or the disk.
    private static func isOutage(_ failure: Failure) -> Bool {
        [.storeUnavailable, .noSpace, .ioFailure].contains(failure.code)
    }

    private func begin(_ failure: Failure) {
        guard asking == nil, !isClosed else { return }
        brake.pull(true, for: .store)
        tell(failure.message)
        logger.error(
            "the library's store cannot be used: no job is claimed until it can",
            metadata: ["error": "\(failure.message)"])
        asking = Task { await self.ask() }
    }

    /// Waits until the store answers again, or the worker is told to stop.
    func waitForEnd() async { await asking?.value }

    /// The worker stops: nobody waits any more.
    func close() {
        isClosed = true
        asking?.cancel()
    }

    private func tell(_ trouble: String?) {
        guard trouble != self.trouble else { return }
        self.trouble = trouble
        listener(.store(trouble: trouble))
    }

    private func ask() async {
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: pause)
                try await handler.reach()
                break
            } catch let failure as Failure where Self.isOutage(failure) {
                // It may change: an operator mends one thing after the other.
                tell(failure.message)
                continue
            } catch {
                // Cancelled; or it answers, and whatever else is wrong is for jobs to tell.
                break
            }
        }
        asking = nil
        brake.pull(false, for: .store)
        tell(nil)
        logger.notice("the library's store can be used again, or the worker stops")
    }
}
