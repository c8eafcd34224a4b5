import AccessKeys
import Edits
import JobQueue
import Logging

extension EndpointCourier {
    /// Reads the next events of the stream and delivers them.
    ///
    /// - Returns: Whether there were any events.
    func readOn(_ round: inout DeliveryRound) async throws -> Bool {
        let from = round.cursor
        let page = try await environment.readings.withTurn(of: stored.endpoint.owner.share) {
            try await environment.pages.page(after: from, of: tenant)
        }
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

    private var tenant: String? { stored.endpoint.owner.tenant }

    /// Delivers one event of the stream if the endpoint subscribes to it.
    private func deliver(_ event: StreamEvent, _ round: inout DeliveryRound) async throws {
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

    /// Retries a parked message.
    func retry(_ message: ParkedMessage, _ round: inout DeliveryRound) async throws {
        var subject = message.subject
        var outgoing: Outgoing?
        if case .entry(let id) = subject {
            if let event = try await environment.pages.event(at: id, of: tenant) {
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
        let oldest = try await environment.pages.oldest(of: tenant)
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

    private func outgoing(_ event: StreamEvent, attempt: Int) -> Outgoing? {
        let endpoint = stored.endpoint
        guard endpoint.eventTypes.contains(event.event.type),
            let json = environment.view(endpoint.owner, event.json, event.event)
        else { return nil }
        return Outgoing(
            event: event.event.id, type: event.event.type, body: Array(json.utf8), attempt: attempt,
            traceparent: event.event.traceparent)
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
