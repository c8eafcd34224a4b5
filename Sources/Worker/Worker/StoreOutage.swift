import Edits
import Logging

/// Stops a worker's claims while the store of its versions is unusable, and probes it periodically. Causes: the
/// store does not answer or refuses the worker, its scratch folder is full, the staging folder cannot be written, the
/// library, its originals or the resources are not at their places, or the queue has another library.
///
/// Jobs that failed because of the outage are returned without counting an attempt. A committed version waits here
/// for the end of the outage, since no other worker could publish it either. A store that answers all requests but
/// those of one job is not in an outage. That attempt fails as usual; otherwise a few such jobs would block all
/// others for ever.
actor StoreOutage {
    private let handler: any JobHandler
    private let brake: ClaimBrake
    private let logger: Logger
    private let pause: Duration
    private var asking: Task<Void, Never>?
    private var isClosed = false
    /// The sentence of the outage; nil while there is none.
    private var away: String?
    /// The sentence that the queue has another library; nil if it has not.
    private var refusal: String?
    private(set) var endedCount = 0
    /// When the library was last seen at its place.
    private var seen: ContinuousClock.Instant?

    /// The time between two probes. Source: one probe a second while a store is away, ``BlobStore``'s own budget
    /// being spent.
    static let pauseStandard = Duration.seconds(1)
    /// How long the presence of the library is believed before the next claim. A job that was claimed too late asks by
    /// itself, so this bounds useless claims and no loss.
    static let seenFor = Duration.seconds(1)
    /// The longest wait for an answer before a claim. A server of files that hangs must not stop the claim loop.
    static let presenceWait = Duration.seconds(5)

    init(
        handler: any JobHandler, brake: ClaimBrake, logger: Logger,
        pause: Duration = pauseStandard
    ) {
        self.handler = handler
        self.brake = brake
        self.logger = logger
        self.pause = pause
    }

    /// Whether the library cannot be used now, or is not the queue's. Then this worker publishes nothing for others.
    var isOn: Bool { asking != nil || refusal != nil }

    /// Checks, after a job has failed, whether the store is unusable. If it is, claims are stopped.
    ///
    /// - Returns: false if the store is usable, or if the failure has another cause.
    func begins(_ failure: Failure) async -> Bool {
        guard Self.isOutage(failure) else { return await isAbsent() }
        guard asking == nil, !isClosed else { return true }
        guard await Self.outage(in: handler.reach) != nil else { return false }
        begin(failure)
        return true
    }

    /// Checks, before a job ends because of something that is absent, whether the place that would have it is there.
    /// If it is not, claims are stopped.
    func isAbsent() async -> Bool {
        guard let failure = await Self.outage(in: handler.checkPresence) else { return false }
        begin(failure)
        return true
    }

    /// Checks, before a claim, whether the library is at its place. If it is not, claims are stopped.
    func allowsClaims() async -> Bool {
        if let seen, .now - seen < Self.seenFor { return true }
        let began = ContinuousClock.now
        guard let isAbsent = await isAbsent(within: Self.presenceWait) else {
            if Task.isCancelled { return false }
            begin(
                Failure(
                    .storeUnavailable,
                    "the library has not answered within \(Self.presenceWait). Does its file server run?"
                ))
            return false
        }
        if !isAbsent { seen = began }
        return !isAbsent
    }

    /// Returns the result of ``isAbsent()``; nil if it takes longer, or this task is cancelled. The check continues then.
    private func isAbsent(within time: Duration) async -> Bool? {
        let answer = FirstAnswer<Bool?>()
        let timer = Task {
            do { try await Task.sleep(for: time) } catch { return }
            answer.give(.success(nil))
        }
        defer { timer.cancel() }
        Task { answer.give(.success(await isAbsent())) }
        do { return try await answer.value } catch { return nil }
    }

    /// Stops claims because the queue has another library, or lets them continue.
    ///
    /// - Parameter sentence: nil: it is the queue's.
    func refuse(_ sentence: String?) {
        guard sentence != refusal else { return }
        refusal = sentence
        if let sentence {
            logger.error("no jobs are claimed", metadata: ["error": "\(sentence)"])
        }
        report()
    }

    /// Returns whether a failure may affect all jobs and not only one. In that case the store or disk is probed.
    private static func isOutage(_ failure: Failure) -> Bool {
        [.storeUnavailable, .noSpace, .ioFailure].contains(failure.code)
    }

    /// Returns the failure of a check if it may affect all jobs.
    private static func outage(
        in check: () async throws(Failure) -> Void
    ) async -> Failure? {
        do throws(Failure) {
            try await check()
            return nil
        } catch {
            return isOutage(error) ? error : nil
        }
    }

    private func begin(_ failure: Failure) {
        seen = nil
        guard asking == nil, !isClosed else { return }
        away = failure.message
        logger.error(
            "the library's store cannot be used: no jobs are claimed until it is available",
            metadata: ["error": "\(failure.message)"])
        asking = Task { await self.ask() }
        report()
    }

    /// Waits until the store answers again, or the worker is asked to stop.
    func waitForEnd() async { await asking?.value }

    /// Ends all waiting because the worker stops.
    func close() {
        isClosed = true
        asking?.cancel()
    }

    private func report() {
        brake.pull(isOn, for: .store)
        brake.tell(ofStore: refusal ?? away)
    }

    private func ask() async {
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: pause)
                try await handler.reach()
                break
            } catch let failure as Failure where Self.isOutage(failure) {
                // The message may change: an operator repairs one cause after another.
                away = failure.message
                report()
                continue
            } catch {
                // Cancelled; or the store answers, and jobs report any other trouble.
                break
            }
        }
        (asking, away) = (nil, nil)
        endedCount += 1
        report()
        logger.notice("the library's store can be used again, or the worker stops")
    }
}
