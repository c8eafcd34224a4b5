import AccessKeys
import Edits
import JobQueue
import Logging
import Synchronization

/// Delivers for one endpoint, in the order of the events, while this gateway holds its lease.
///
/// A message that fails is parked, and the next one follows. After several consecutive failures new events wait in the stream;
/// only parked messages are retried, and now and then the first waiting event. So an unavailable endpoint costs an occasional
/// attempt and loses no event.
final class EndpointCourier: Sendable {
    /// The state that all couriers of a service share.
    struct Environment: Sendable {
        let store: WebhookStore
        let sender: WebhookSender
        let pages: EventPages
        /// Turns at reading pages of events: a tenant that sets its endpoints back again and again holds up none but its own.
        let readings: FairTurns
        let slots: FairTurns
        let settings: WebhookSettings
        /// The name of this gateway among others.
        let owner: String
        let view: WebhookService.View
        /// A random number from 0 up to 1, uniformly distributed: the jitter of retries.
        let random: @Sendable () -> Double
        let logger: Logger
    }

    /// The counts of a courier.
    struct Tally: Sendable {
        var hasLease = false
        var cursor: String?
        /// The number of events that were read and not yet processed.
        var pending = 0
        var parked = 0
        var accepted = 0
        var failed = 0
        var givenUp = 0
        var gaps = 0
    }

    let id: String
    let environment: Environment
    let ledger: DeliveryLedger
    private let wakeSignal = WakeSignal()
    private let state: Mutex<State>

    private struct State: Sendable {
        var stored: StoredEndpoint
        var isStopping = false
        var isCheckRequested = false
        var tally = Tally()
    }

    init(_ stored: StoredEndpoint, _ environment: Environment) {
        id = stored.endpoint.id
        self.environment = environment
        ledger = DeliveryLedger(
            redis: environment.store.redis, queue: environment.store.queue,
            endpoint: stored.endpoint.id,
            owner: environment.owner, lease: environment.settings.lease)
        state = Mutex(State(stored: stored))
    }

    /// The current record of the endpoint.
    var stored: StoredEndpoint { state.withLock { $0.stored } }
    var tally: Tally { state.withLock { $0.tally } }
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Applies a change of the endpoint.
    func update(_ stored: StoredEndpoint) { state.withLock { $0.stored = stored } }
    /// Makes the courier check whether its position was moved.
    func recheck() {
        state.withLock { $0.isCheckRequested = true }
        wakeSignal.wake()
    }
    /// Wakes the courier because there may be work.
    func wake() { wakeSignal.wake() }
    /// Stops the courier after the current delivery.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeSignal.wake()
    }
    func count(_ change: (inout Tally) -> Void) { state.withLock { change(&$0.tally) } }

    /// Delivers until the courier is stopped or the endpoint is gone. It waits out failures of Redis.
    func run() async {
        var isFailing = false
        while !isOver {
            do {
                guard let round = try await acquireLease() else { break }
                try await deliver(round)
                isFailing = false
            } catch let error as CourierEnd {
                if error == .gone { break }
            } catch {
                if Task.isCancelled { break }
                if !isFailing {
                    environment.logger.warning(
                        "a webhook is not delivered for now",
                        metadata: ["endpoint": "\(id)", "error": "\(error)"])
                }
                isFailing = true
                await wakeSignal.wait(atMost: .seconds(1))
            }
            count { $0.hasLease = false }
        }
        count { $0.hasLease = false }
    }

    var isOver: Bool { Task.isCancelled || isStopping }

    /// Waits for the lease.
    ///
    /// - Returns: The lease; nil if the courier was stopped first.
    private func acquireLease() async throws -> DeliveryRound? {
        while !isOver {
            let asked = ContinuousClock.now
            switch try await ledger.turn(fence: nil) {
            case .own(let progress):
                count { $0.hasLease = true }
                return DeliveryRound(progress, asked: asked)
            case .held(let time):
                await wakeSignal.wait(atMost: min(time, environment.settings.idle))
            case .gone: throw CourierEnd.gone
            case .fenced, .full: throw CourierEnd.fenced
            }
        }
        return nil
    }

    /// Delivers while this gateway holds the lease.
    private func deliver(_ round: DeliveryRound) async throws {
        var round = round
        while !isOver {
            if clearCheckRequest() { try await settle(.init(), &round) }
            if let message = round.due {
                try await retry(message, &round)
            } else if !isPaused(round) || isProbeDue(round), try await readOn(&round) {
                continue
            } else {
                await wakeSignal.wait(atMost: min(environment.settings.idle, round.timeToDue))
                try await renewIfNeeded(&round)
            }
        }
        if !Task.isCancelled {
            try await settle(.init(cursor: round.cursor), &round)
            try await ledger.release(fence: round.progress.fence)
        }
    }

    private func clearCheckRequest() -> Bool {
        state.withLock { state in
            defer { state.isCheckRequested = false }
            return state.isCheckRequested
        }
    }

    private func isProbeDue(_ round: DeliveryRound) -> Bool {
        round.triedAt.map { .now - $0 >= environment.settings.probeInterval } ?? true
    }

    /// Returns whether new events wait until a parked message is accepted.
    func isPaused(_ round: DeliveryRound) -> Bool {
        round.progress.failures >= environment.settings.failuresBeforePause
            && round.progress.next != nil
    }
}

/// The reason why a courier lost its lease.
enum CourierEnd: Error {
    /// Another gateway delivers, or the cursor was moved.
    case fenced
    /// The endpoint was deleted or disabled.
    case gone
}
