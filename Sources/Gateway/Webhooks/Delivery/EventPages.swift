import JobQueue
import Redis

/// The pages of the event stream that couriers read. Couriers at the same position share one read: if a new event wakes a thousand
/// endpoints, one of them asks Redis and decodes.
actor EventPages {
    /// The events after a position.
    struct Page: Sendable {
        var events: [StreamEvent] = []
        /// The position after these events.
        let position: String
        /// The reason why there are none: an entry before that position is not an event, or events after the first position
        /// were trimmed.
        var refusal: QueueError?
    }

    /// The maximum number of cached pages, of 500 events at most.
    static let pagesMax = 8
    /// The lifetime of a page. A page that was not full lacks later events.
    static let ageMax = Duration.milliseconds(500)

    private let queue: QueueName
    private let redis: RedisClient
    private let ageMax: Duration
    private var pages:
        [String: (read: Task<Result<Page, QueueError>, Never>, at: ContinuousClock.Instant)] =
            [:]

    init(queue: QueueName, redis: RedisClient, ageMax: Duration = EventPages.ageMax) {
        self.queue = queue
        self.redis = redis
        self.ageMax = ageMax
    }

    /// The number of cached pages.
    var count: Int { pages.count }

    /// Drops all pages because new events have arrived.
    func invalidate() { pages = [:] }

    /// Returns the events after a position.
    ///
    /// - Parameter tenant: The tenant whose events alone matter; nil: all do. Where events of others may be lost, Redis is asked for
    ///   those of the tenant.
    /// - Throws: As `EventReader.next`; the page contains `unreadableEvent` and `tokenExpired` instead.
    func page(
        after position: String, of tenant: String? = nil
    ) async throws(QueueError) -> Page {
        let page = try await read(after: position, of: nil)
        guard let tenant, page.refusal?.code == .tokenExpired else { return page }
        return try await read(after: position, of: tenant)
    }

    private func read(after position: String, of tenant: String?) async throws(QueueError) -> Page {
        let now = ContinuousClock.now
        let name = tenant.map { "\($0) \(position)" } ?? position
        if let page = pages[name], now - page.at < ageMax {
            return try await page.read.value.get()
        }
        if pages.count >= Self.pagesMax { pages = [:] }
        let read = Task { [queue, redis] () -> Result<Page, QueueError> in
            var reader = EventReader(queue: queue, redis: redis, after: position, of: tenant)
            do throws(QueueError) {
                let events = try await reader.next().map(StreamEvent.init)
                return .success(Page(events: events, position: reader.position))
            } catch {
                guard [.unreadableEvent, .tokenExpired].contains(error.code) else {
                    return .failure(error)
                }
                return .success(Page(position: reader.position, refusal: error))
            }
        }
        pages[name] = (read, now)
        return try await read.value.get()
    }

    /// Returns one entry, also one that is kept for a tenant alone; nil if it is gone, or is not an event.
    ///
    /// - Throws: `redis`.
    func event(at id: String, of tenant: String?) async throws(WebhookError) -> StreamEvent? {
        var row = try await rows(id, id).first
        if row == nil, let tenant {
            row = try await rows(id, id, in: queue.keys.keptEvents(of: tenant)).first
        }
        return row.flatMap(StreamEvent.init(row:))
    }

    /// Returns the oldest remaining entry, or only its id if it is not an event; without an entry, the position of the next one.
    /// That of a tenant may be kept for it alone.
    ///
    /// - Throws: `redis`.
    func oldest(of tenant: String?) async throws(WebhookError) -> (id: String, event: StreamEvent?)
    {
        if let tenant,
            let row = try await rows("-", "+", in: queue.keys.keptEvents(of: tenant)).first,
            let id = row.array?.first?.string
        {
            return (id, StreamEvent(row: row))
        }
        if let row = try await rows("-", "+").first, let id = row.array?.first?.string {
            return (id, StreamEvent(row: row))
        }
        let key = RedisArgument(queue.keys.events)
        guard try await send(["EXISTS", key]).int == 1 else { return (EventReader.beginning, nil) }
        let fields = try await send(["XINFO", "STREAM", key]).array ?? []
        let index = fields.firstIndex { $0.string == "last-generated-id" }
        let id = index.flatMap { fields.indices.contains($0 + 1) ? fields[$0 + 1].string : nil }
        return (id ?? EventReader.beginning, nil)
    }

    private func rows(
        _ first: String, _ last: String, in stream: String? = nil
    ) async throws(WebhookError) -> [RedisReply] {
        try await send([
            "XRANGE", RedisArgument(stream ?? queue.keys.events), RedisArgument(first),
            RedisArgument(last), "COUNT", "1",
        ]).array ?? []
    }

    private func send(_ command: [RedisArgument]) async throws(WebhookError) -> RedisReply {
        do {
            return try await redis.send(command)
        } catch {
            throw WebhookError(.redis, "the events of queue \(queue): \(error)", cause: error)
        }
    }
}
