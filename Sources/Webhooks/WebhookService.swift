package import Adjustments
import JobQueue
package import Logging
package import Redis
import ServiceLifecycle
import Synchronization

/// Delivers events to all endpoints of a queue, beside the same service of other gateways: for an endpoint one of them
/// delivers at a time, and each event is delivered at least once, with the same `webhook-id` whenever it is repeated.
///
/// It ends in good order: deliveries that go on are finished (15 s at most) and leases given back.
package final class WebhookService: Service {
    /// The view that an owner has of an event: the CloudEvent as it is or with parts left out; nil: nothing.
    package typealias View =
        @Sendable (_ owner: WebhookOwner, _ json: String, _ event: JobEvent) -> String?

    /// How long one wait for events and changes is.
    static let bellWait = Duration.seconds(1)
    /// How long to wait after Redis refused.
    static let pause = Duration.seconds(1)
    /// The shortest time between two calls to couriers: what comes in between is told by the next.
    static let ringInterval = Duration.milliseconds(50)

    private struct State {
        var couriers: [String: EndpointCourier] = [:]
        var disabled = 0
        var newest = EventReader.beginning
        var isStopping = false
        var needsReload = true
        /// The counts of couriers that have ended.
        var ended = EndpointCourier.Tally()
    }

    private let store: WebhookStore
    private let bell: WebhookBell
    private let means: EndpointCourier.Means
    private let settings: WebhookSettings
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - bell: a client of its own, because waiting blocks its connection.
    ///   - random: the jitter of retries, from 0 up to 1.
    package init(
        store: WebhookStore, bell: RedisClient, sender: WebhookSender,
        settings: WebhookSettings = WebhookSettings(), logger: Logger,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }, view: @escaping View
    ) {
        self.store = store
        self.settings = settings
        self.logger = logger
        self.bell = WebhookBell(queue: store.queue, redis: bell)
        means = EndpointCourier.Means(
            store: store, sender: sender,
            pages: EventPages(queue: store.queue, redis: store.redis),
            slots: DeliverySlots(settings.concurrencyMax), settings: settings,
            owner: "\(UInt64.random(in: 0...UInt64.max))", view: view, random: random,
            logger: logger)
    }

    /// Delivers until it is told to stop. Trouble with Redis is waited out, and told once.
    package func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                await follow(&group)
                for courier in state.withLock({ Array($0.couriers.values) }) { courier.stop() }
            }
        } onGracefulShutdown: {
            self.stop()
        }
    }

    /// Ends it in good order, as a graceful shutdown does.
    package func stop() {
        let couriers = state.withLock { state in
            state.isStopping = true
            return Array(state.couriers.values)
        }
        for courier in couriers { courier.stop() }
    }

    /// How deliveries stand.
    package func metrics() -> WebhookMetrics {
        let state = state.withLock { $0 }
        var metrics = WebhookMetrics()
        metrics.active = state.couriers.count
        metrics.disabled = state.disabled
        for tally in state.couriers.values.map(\.tally) + [state.ended] {
            metrics.delivered += tally.taken
            metrics.failed += tally.failed
            metrics.givenUp += tally.givenUp
            metrics.gaps += tally.gaps
            guard tally.hasLease else { continue }
            metrics.held += 1
            metrics.parked += tally.parked
            metrics.lagEvents = max(metrics.lagEvents, tally.pending)
            // 0 is the place before the first event of all.
            if let cursor = tally.cursor.map(StreamEvent.milliseconds), cursor > 0 {
                let behind = StreamEvent.milliseconds(of: state.newest) - cursor
                metrics.lagSeconds = max(metrics.lagSeconds, Double(behind) / 1000)
            }
        }
        return metrics
    }

    private func follow(_ group: inout DiscardingTaskGroup) async {
        var loadedAt: ContinuousClock.Instant?
        var isInTrouble = false
        while !Task.isCancelled, !state.withLock({ $0.isStopping }) {
            do {
                try await bell.start()
                let isDue = loadedAt.map { .now - $0 > settings.reloadInterval } ?? true
                let needsReload = state.withLock { state in
                    defer { state.needsReload = false }
                    return state.needsReload
                }
                if isDue || needsReload {
                    loadedAt = .now
                    try await reload(&group)
                }
                let rung = try await bell.wait(atMost: Self.bellWait)
                hear(of: rung.endpoints)
                if let newest = rung.newest { await ring(newest) }
                isInTrouble = false
            } catch {
                if Task.isCancelled { return }
                if !isInTrouble {
                    logger.warning(
                        "webhooks hear of no events", metadata: ["error": "\(error)"])
                }
                isInTrouble = true
                loadedAt = nil
                // Cancelled only with the whole service.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// All endpoints are read anew; couriers of those that were changed look whether their place is still the one they
    /// know.
    private func hear(of endpoints: Set<String>) {
        if endpoints.isEmpty { return }
        let couriers = state.withLock { state in
            state.needsReload = true
            return endpoints.compactMap { state.couriers[$0] }
        }
        for courier in couriers { courier.recheck() }
    }

    private func ring(_ newest: String) async {
        await means.pages.ring()
        let couriers = state.withLock { state in
            state.newest = newest
            return Array(state.couriers.values)
        }
        for courier in couriers { courier.ring() }
        // Cancelled only with the whole service.
        try? await Task.sleep(for: Self.ringInterval)
    }

    /// Starts couriers of new endpoints, tells the others of changes, stops those of endpoints that are gone.
    private func reload(_ group: inout DiscardingTaskGroup) async throws(WebhookError) {
        var active: [String: StoredEndpoint] = [:]
        var disabled = 0
        for result in try await store.all().values {
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
                let courier = EndpointCourier(stored, means)
                state.couriers[courier.id] = courier
                return courier
            }
        }
        for courier in started {
            group.addTask {
                await courier.run()
                self.forget(courier)
            }
        }
    }

    /// The counts of an ended courier stay; its endpoint may be active again by now.
    private func forget(_ courier: EndpointCourier) {
        let tally = courier.tally
        state.withLock { state in
            state.couriers[courier.id] = nil
            state.needsReload = true
            state.ended.taken += tally.taken
            state.ended.failed += tally.failed
            state.ended.givenUp += tally.givenUp
            state.ended.gaps += tally.gaps
        }
    }
}
