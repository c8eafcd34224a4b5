import Adjustments
import Logging

/// Stops a worker's claims while the store of its versions is unusable, and probes it periodically. Causes: the
/// store does not answer or refuses the worker, its scratch folder is full, or the staging folder cannot be
/// written.
///
/// Jobs that failed because of the outage are returned without counting an attempt. A committed version waits here
/// for the end of the outage, since no other worker could publish it either. A store that answers all requests but
/// those of one job is not in an outage. That attempt fails as usual; otherwise a few such jobs would block all
/// others for ever.
actor StoreOutage {
    private let handler: any JobHandler
    private let brake: ClaimBrake
    private let logger: Logger
    private let listener: WorkerEvent.Listener
    private let pause: Duration
    private var asking: Task<Void, Never>?
    private var isClosed = false
    /// The last reported message; nil while there is no outage.
    private var trouble: String?

    /// The time between two probes. Source: one probe a second while a store is away, ``BlobStore``'s own budget
    /// being spent.
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

    /// Checks, after a job has failed, whether the store is unusable. If it is, claims are stopped.
    ///
    /// - Returns: false if the store is usable, or if the failure has another cause.
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

    /// Returns whether a failure may affect all jobs and not only one. In that case the store or disk is probed.
    private static func isOutage(_ failure: Failure) -> Bool {
        [.storeUnavailable, .noSpace, .ioFailure].contains(failure.code)
    }

    private func begin(_ failure: Failure) {
        guard asking == nil, !isClosed else { return }
        brake.pull(true, for: .store)
        report(failure.message)
        logger.error(
            "the library's store cannot be used: no jobs are claimed until it is available",
            metadata: ["error": "\(failure.message)"])
        asking = Task { await self.ask() }
    }

    /// Waits until the store answers again, or the worker is asked to stop.
    func waitForEnd() async { await asking?.value }

    /// Ends all waiting because the worker stops.
    func close() {
        isClosed = true
        asking?.cancel()
    }

    private func report(_ trouble: String?) {
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
                // The message may change: an operator repairs one cause after another.
                report(failure.message)
                continue
            } catch {
                // Cancelled; or the store answers, and jobs report any other trouble.
                break
            }
        }
        asking = nil
        brake.pull(false, for: .store)
        report(nil)
        logger.notice("the library's store can be used again, or the worker stops")
    }
}
