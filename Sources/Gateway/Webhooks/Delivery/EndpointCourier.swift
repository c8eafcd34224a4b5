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
        /// The newest events, read once for all couriers.
        let hub: EventHub
        /// Turns at reading pages of events: a tenant that sets its endpoints back again and again holds up none but its own.
        let readings: FairTurns
        let slots: FairTurns
        let settings: WebhookSettings
        /// The name of this gateway among others.
        let owner: String
        let view: WebhookView
        /// A random number from 0 up to 1, uniformly distributed: the jitter of retries.
        let random: @Sendable () -> Double
        let logger: Logger
    }

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

    var stored: StoredEndpoint { state.withLock { $0.stored } }
    var tally: Tally { state.withLock { $0.tally } }
    var isStopping: Bool { state.withLock { $0.isStopping } }

    func update(_ stored: StoredEndpoint) { state.withLock { $0.stored = stored } }
    /// Makes the courier check whether its position was moved.
    func recheck() {
        state.withLock { $0.isCheckRequested = true }
        wakeSignal.wake()
    }
    func wake() { wakeSignal.wake() }
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

extension EndpointCourier {
    /// Reads the next events of the stream and delivers them.
    ///
    /// - Returns: Whether there were any events.
    func readOn(_ round: inout DeliveryRound) async throws -> Bool {
        let from = round.cursor
        let page = try await page(after: from, round)
        round.hasReadStream = true
        round.readCount = EventReader.turnNext(after: page.events)
        if let refusal = page.refusal {
            if refusal.code == .tokenExpired {
                try await reportGap(&round)
                return true
            }
            environment.logger.warning(
                "webhooks pass over an entry", metadata: ["error": "\(refusal)"])
        }
        for (index, event) in page.events.enumerated() {
            count { $0.pending = page.events.count - index }
            if isOver { return true }
            let failuresBefore = round.progress.failures
            try await deliver(event, &round)
            // It may be time to hold new events, or to retry a message.
            if round.progress.failures > failuresBefore || round.due != nil { return true }
        }
        round.cursor = page.position
        count {
            $0.pending = 0
            $0.cursor = page.position
        }
        try await renewIfNeeded(&round)
        return page.position != from
    }

    private struct Page {
        var events: [EventReader.Entry] = []
        /// The position after these events.
        let position: String
        /// The reason why there are none: an entry before that position is not an event, or events after the first position
        /// were trimmed.
        var refusal: QueueError?
    }

    /// Returns the next events: those of the hub, or of the stream if the position is older.
    ///
    /// Where the position was not reached by reading, only the stream tells whether events after it were trimmed.
    private func page(after position: String, _ round: DeliveryRound) async throws -> Page {
        if round.hasReadStream, let place = StreamID(position) {
            switch environment.hub.entries(after: place) {
            case .entries(let entries):
                let events = entries.map(\.event)
                return Page(events: events, position: events.last?.id ?? position)
            case .none: return Page(position: position)
            case .tooOld: break
            }
        }
        return try await environment.readings.withTurn(of: stored.endpoint.owner.share) {
            let page = try await read(after: position, of: nil, count: round.readCount)
            // Where events of others may be lost, those of the tenant may be kept.
            guard let tenant, page.refusal?.code == .tokenExpired else { return page }
            return try await read(after: position, of: tenant, count: round.readCount)
        }
    }

    private func read(
        after position: String, of tenant: String?, count: Int
    ) async throws(QueueError) -> Page {
        let store = environment.store
        var reader = EventReader(
            queue: store.queue, redis: store.redis, after: position, of: tenant, atMost: count)
        do throws(QueueError) {
            let events = try await reader.next()
            return Page(events: events, position: reader.position)
        } catch {
            guard [.unreadableEvent, .tokenExpired].contains(error.code) else { throw error }
            return Page(position: reader.position, refusal: error)
        }
    }

    private var tenant: String? { stored.endpoint.owner.tenant }

    private func deliver(_ event: EventReader.Entry, _ round: inout DeliveryRound) async throws {
        guard let outgoing = outgoing(event, attempt: 1) else {
            round.cursor = event.id
            return
        }
        let isPaused = isPaused(round)
        let delivery = try await send(outgoing, &round)
        if isPaused, !delivery.isAccepted {
            // The message was a probe: the event keeps waiting.
            return try await settle(
                .init(outcome: try delivery.json(), isAccepted: false), of: delivery, &round)
        }
        try await settle(
            delivery, ParkedMessage(.entry(event.id), failures: 0), cursor: event.id, &round)
    }

    func retry(_ message: ParkedMessage, _ round: inout DeliveryRound) async throws {
        var subject = message.subject
        var outgoing: Outgoing?
        if case .entry(let id) = subject {
            if let event = try await environment.store.event(at: id, of: tenant) {
                outgoing = self.outgoing(event, attempt: message.failures + 1)
                guard outgoing != nil else {
                    // The endpoint does not subscribe to the event any more.
                    return try await settle(.init(unpark: message), &round)
                }
            } else {
                subject = .gap(from: id, to: id)
            }
        }
        if case .gap(let from, let to) = subject {
            outgoing = try gap(from, to, attempt: message.failures + 1, round)
        }
        guard let outgoing else { return }
        let delivery = try await send(outgoing, &round)
        try await settle(
            delivery, ParkedMessage(subject, failures: message.failures), cursor: nil,
            unpark: message,
            &round)
    }

    /// Reports to the endpoint that events were trimmed before they could be delivered, and continues with the oldest
    /// remaining one.
    private func reportGap(_ round: inout DeliveryRound) async throws {
        let oldest = try await environment.store.oldest(of: tenant)
        environment.logger.warning(
            "a webhook has missed events",
            metadata: ["endpoint": "\(id)", "from": "\(round.cursor)", "to": "\(oldest.id)"])
        count { $0.gaps += 1 }
        let subject = ParkedMessage.Subject.gap(from: round.cursor, to: oldest.id)
        if case .gap(let from, let to) = subject {
            let delivery = try await send(try gap(from, to, attempt: 1, round), &round)
            try await settle(
                delivery, ParkedMessage(subject, failures: 0), cursor: nil, &round)
        }
        // The cursor moves last: after a crash before that, the gap is reported again.
        if let event = oldest.event { try await deliver(event, &round) }
        round.cursor = oldest.id
        try await settle(.init(cursor: oldest.id), &round)
    }

    private func outgoing(_ event: EventReader.Entry, attempt: Int) -> Outgoing? {
        let endpoint = stored.endpoint
        guard endpoint.eventTypes.contains(event.event.type),
            let json = environment.view(endpoint.owner, event.json, event.event)
        else { return nil }
        return Outgoing(
            event: event.event.id, entry: event.id, type: event.event.type,
            body: Array(json.utf8), attempt: attempt, traceparent: event.event.traceparent)
    }

    private func gap(
        _ from: String, _ to: String, attempt: Int, _ round: DeliveryRound
    ) throws(WebhookError) -> Outgoing {
        let event = WebhookEvent.gap(
            from: from, to: to, endpoint: id, queue: environment.store.queue, at: round.progress.now
        )
        return Outgoing(event: event.id, type: event.type, body: try event.json(), attempt: attempt)
    }

    /// Sends a message while the lease is certain to last.
    private func send(
        _ outgoing: Outgoing, _ round: inout DeliveryRound
    ) async throws -> WebhookDelivery {
        try await environment.slots.withTurn(of: stored.endpoint.owner.share) {
            try await renewIfNeeded(&round)
            round.triedAt = .now
            let delivery = try await outgoing.send(
                to: stored, through: environment.sender, now: environment.store.now)
            // A delivery that this service's own shutdown interrupted tells nothing about the endpoint.
            try Task.checkCancellation()
            return delivery
        }
    }

    /// Parks a message that was not accepted, or gives it up, and records the result.
    private func settle(
        _ delivery: WebhookDelivery, _ message: ParkedMessage, cursor: String?,
        unpark: ParkedMessage? = nil, _ round: inout DeliveryRound
    ) async throws {
        var change = DeliveryTurn.Change(
            cursor: cursor, unpark: unpark, isAccepted: delivery.isAccepted)
        var delivery = delivery
        let failures = message.failures + 1
        if !delivery.isAccepted {
            if let delay = environment.settings.retries.delay(
                afterFailures: failures, random: environment.random(),
                atLeast: .seconds(delivery.retryAfter ?? 0))
            {
                change.park = (ParkedMessage(message.subject, failures: failures), delay)
                delivery.retryAt = environment.store.now() + delay.milliseconds
            } else {
                count { $0.givenUp += 1 }
                environment.logger.warning(
                    "a webhook's message is given up",
                    metadata: ["endpoint": "\(id)", "event": "\(delivery.event)"])
            }
        }
        change.outcome = try delivery.json()
        if let cursor { round.cursor = cursor }
        try await settle(change, of: delivery, &round)
    }

    /// Records the result of a message, and its consequence for the endpoint.
    private func settle(
        _ change: DeliveryTurn.Change, of delivery: WebhookDelivery, _ round: inout DeliveryRound
    ) async throws {
        count { tally in
            if delivery.isAccepted { tally.accepted += 1 } else { tally.failed += 1 }
        }
        try await settle(change, &round)
        if delivery.status == 410 { try await disable(.gone) }
        if let since = round.progress.failingSince,
            round.progress.now - since > environment.settings.failingMax.milliseconds
        {
            try await disable(.failing)
        }
    }

    /// Renews the lease if less than half of it is left, and records the position that the endpoint has reached.
    func renewIfNeeded(_ round: inout DeliveryRound) async throws {
        if ContinuousClock.now - round.asked > environment.settings.lease / 2 {
            try await settle(.init(cursor: round.cursor), &round)
        }
    }

    func settle(_ change: DeliveryTurn.Change, _ round: inout DeliveryRound) async throws {
        let asked = ContinuousClock.now
        switch try await ledger.turn(fence: round.progress.fence, change) {
        case .own(let progress):
            round.update(progress, asked: asked)
            count { tally in
                tally.parked = progress.parked
                tally.cursor = change.cursor ?? tally.cursor
            }
        case .full: try await disable(.parked)
        case .held, .fenced: throw CourierEnd.fenced
        case .gone: throw CourierEnd.gone
        }
    }

    private func disable(_ reason: WebhookEndpoint.Reason) async throws {
        environment.logger.warning(
            "a webhook is disabled",
            metadata: ["endpoint": "\(id)", "reason": "\(reason.rawValue)"])
        try await environment.store.disable(id, reason)
        throw CourierEnd.gone
    }
}

/// The state of a courier while it holds the lease.
struct DeliveryRound {
    private(set) var progress: DeliveryTurn.Progress
    /// The position that has been read. It is ahead of the recorded one by events that are not for the endpoint.
    var cursor: String
    /// The time at which the last turn was requested: the lease counts from then.
    private(set) var asked: ContinuousClock.Instant
    /// The time at which a message was last sent.
    var triedAt: ContinuousClock.Instant?
    /// Whether the stream was read since the lease was taken.
    var hasReadStream = false
    /// The most events of the next reading of the stream.
    var readCount = EventReader.turnFirst
    private var dueAt: ContinuousClock.Instant?

    init(_ progress: DeliveryTurn.Progress, asked: ContinuousClock.Instant) {
        self.progress = progress
        cursor = progress.cursor
        self.asked = asked
        dueAt = progress.dueIn.map { asked + $0 }
    }

    mutating func update(_ progress: DeliveryTurn.Progress, asked: ContinuousClock.Instant) {
        self.progress = progress
        self.asked = asked
        dueAt = progress.dueIn.map { asked + $0 }
    }

    /// The message that is due for another attempt.
    var due: ParkedMessage? { timeToDue <= .zero ? progress.next : nil }

    /// The time until the next message is due for another attempt.
    var timeToDue: Duration { dueAt.map { $0 - .now } ?? .seconds(86_400) }
}
