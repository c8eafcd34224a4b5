package import AccessKeys
import Edits
package import JobQueue
package import Logging
package import Redis
import ServiceLifecycle
import Synchronization

/// Delivers events to all endpoints of a queue, together with the same service of other gateways. One gateway at a time delivers
/// for an endpoint, and each event is delivered at least once, with the same `webhook-id` in each repeat.
///
/// It shuts down gracefully: current deliveries are finished (15 s at most) and leases are released.
package final class WebhookService: Service {
    /// The duration of one wait for events and changes.
    static let changesWait = Duration.seconds(1)
    static let pause = Duration.seconds(1)
    /// The shortest time between two wake-ups of couriers: events between two are covered by the second one.
    static let wakeInterval = Duration.milliseconds(50)

    private struct State {
        var couriers: [String: EndpointCourier] = [:]
        var disabled = 0
        var isStopping = false
        var needsReload = true
        var ended = EndpointCourier.Tally()
    }

    private let store: WebhookStore
    private let queue: JobQueue
    private let reads: RedisClient
    private let hub: EventHub
    private let environment: EndpointCourier.Environment
    var readings: FairTurns { environment.readings }
    private let settings: WebhookSettings
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - reads: A client of its own, because waiting for changes blocks its connection.
    ///   - readings: The turns at reading pages of events, which tenants share.
    ///   - random: Returns the jitter of retries, from 0 up to 1.
    package init(
        _ queue: JobQueue, store: WebhookStore, reads: RedisClient, hub: EventHub,
        sender: WebhookSender, readings: FairTurns, settings: WebhookSettings = WebhookSettings(),
        logger: Logger,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        view: @escaping WebhookView
    ) {
        self.store = store
        self.settings = settings
        self.logger = logger
        (self.queue, self.reads, self.hub) = (queue, reads, hub)
        environment = EndpointCourier.Environment(
            store: store, sender: sender, hub: hub, readings: readings,
            slots: FairTurns(
                .init(all: settings.concurrencyMax),
                // One for each endpoint, twice while couriers are replaced; so none is refused.
                waiting: .init(all: 4 * WebhookStore.endpointsMax)), settings: settings,
            owner: "\(UInt64.random(in: 0...UInt64.max))", view: view, random: random,
            logger: logger)
    }

    /// Delivers until the service is stopped. It waits out failures of Redis and logs each failure once.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                let events = Task { await followEvents() }
                await follow(&group)
                events.cancel()
                await events.value
                for courier in state.withLock({ Array($0.couriers.values) }) { courier.stop() }
            }
        } onGracefulShutdown: {
            self.stop()
        }
    }

    /// Shuts down gracefully, like a graceful shutdown of the service group.
    package func stop() {
        let couriers = state.withLock { state in
            state.isStopping = true
            return Array(state.couriers.values)
        }
        for courier in couriers { courier.stop() }
    }

    package func metrics() -> WebhookMetrics {
        let state = state.withLock { $0 }
        var metrics = WebhookMetrics()
        metrics.active = state.couriers.count
        metrics.disabled = state.disabled
        for tally in state.couriers.values.map(\.tally) + [state.ended] {
            metrics.delivered += tally.accepted
            metrics.failed += tally.failed
            metrics.givenUp += tally.givenUp
            metrics.gaps += tally.gaps
            guard tally.hasLease else { continue }
            metrics.held += 1
            metrics.parked += tally.parked
            metrics.lagEvents = max(metrics.lagEvents, tally.pending)
            // 0 is the position before the first event.
            if let cursor = tally.cursor.map(EventReader.milliseconds), cursor > 0,
                let newest = hub.newest
            {
                let behind = Int(newest.milliseconds) - cursor
                metrics.lagSeconds = max(metrics.lagSeconds, Double(behind) / 1000)
            }
        }
        return metrics
    }

    private func follow(_ group: inout DiscardingTaskGroup) async {
        var loadedAt: ContinuousClock.Instant?
        var position: String?
        var isFailing = false
        while !Task.isCancelled, !state.withLock({ $0.isStopping }) {
            do {
                // Earlier changes are known from the records.
                var from: String
                if let position {
                    from = position
                } else {
                    from = try await queue.controlPosition(in: .gateway)
                }
                position = nil
                let isDue = loadedAt.map { .now - $0 > settings.reloadInterval } ?? true
                let needsReload = state.withLock { state in
                    defer { state.needsReload = false }
                    return state.needsReload
                }
                if isDue || needsReload {
                    loadedAt = .now
                    try await reload(&group)
                }
                let messages = try await queue.listen(
                    to: .gateway, from: &from, atMost: Self.changesWait, on: reads)
                position = from
                requestReload(of: messages.compactMap(\.endpoint))
                isFailing = false
            } catch {
                if Task.isCancelled { return }
                if !isFailing {
                    logger.warning(
                        "webhooks hear of no events", metadata: ["error": "\(error)"])
                }
                isFailing = true
                loadedAt = nil
                // The sleep is cancelled only with the whole service.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Requests a new read of all endpoints. The couriers of changed endpoints check whether their position was moved.
    private func requestReload(of endpoints: [String]) {
        if endpoints.isEmpty { return }
        let couriers = state.withLock { state in
            state.needsReload = true
            return endpoints.compactMap { state.couriers[$0] }
        }
        for courier in couriers { courier.recheck() }
    }

    private func followEvents() async {
        var seen = hub.newest ?? .beginning
        while !Task.isCancelled {
            await hub.wait(after: seen)
            guard let newest = hub.newest, newest != seen else { continue }
            seen = newest
            for courier in state.withLock({ Array($0.couriers.values) }) { courier.wake() }
            do { try await Task.sleep(for: Self.wakeInterval) } catch { return }
        }
    }

    /// Starts couriers of new endpoints, passes changes to the others, and stops those of endpoints that are gone.
    private func reload(_ group: inout DiscardingTaskGroup) async throws(WebhookError) {
        var active: [String: StoredEndpoint] = [:]
        var disabled = 0
        for result in try await store.records.allDecoded().values {
            do throws(WebhookError) {
                let stored = try result.get()
                if stored.endpoint.isActive {
                    active[stored.endpoint.id] = stored
                } else {
                    disabled += 1
                }
            } catch {
                logger.warning("a webhook is passed over", metadata: ["error": "\(error)"])
            }
        }
        let started = state.withLock { state in
            state.disabled = disabled
            for (id, courier) in state.couriers where active[id] == nil { courier.stop() }
            guard !state.isStopping else { return [EndpointCourier]() }
            return active.values.compactMap { stored -> EndpointCourier? in
                if let courier = state.couriers[stored.endpoint.id] {
                    courier.update(stored)
                    return nil
                }
                let courier = EndpointCourier(stored, environment)
                state.couriers[courier.id] = courier
                return courier
            }
        }
        for courier in started {
            group.addTask {
                await courier.run()
                self.removeCourier(courier)
            }
        }
    }

    /// Keeps the counts of a courier that has ended; its endpoint may be active again by now.
    private func removeCourier(_ courier: EndpointCourier) {
        let tally = courier.tally
        state.withLock { state in
            state.couriers[courier.id] = nil
            state.needsReload = true
            state.ended.accepted += tally.accepted
            state.ended.failed += tally.failed
            state.ended.givenUp += tally.givenUp
            state.ended.gaps += tally.gaps
        }
    }
}

extension ControlMessage {
    /// The endpoint that was created, changed, removed or set back.
    fileprivate var endpoint: String? { if case .webhook(let id) = self { id } else { nil } }
}

/// The state of a gateway's deliveries, for its metrics page. Endpoints for which another gateway delivers appear only in the
/// numbers of endpoints.
package struct WebhookMetrics: Sendable, Equatable {
    package var active = 0
    /// The number of disabled endpoints, for any reason.
    package var disabled = 0
    /// The number of active endpoints for which this gateway delivers.
    package var held = 0
    /// The number of accepted messages since the start of this process.
    package var delivered = 0
    /// The number of failed attempts since the start of this process.
    package var failed = 0
    /// The number of messages that were given up after all attempts, since the start of this process.
    package var givenUp = 0
    /// The number of reported gaps since the start of this process.
    package var gaps = 0
    /// The number of messages that wait for another attempt.
    package var parked = 0
    /// The number of events that were read and not yet processed, of the endpoint that has most; at most a page of 500 is known.
    package var lagEvents = 0
    /// The largest delay of an endpoint behind the newest event, in seconds between the two events.
    package var lagSeconds = 0.0
}
