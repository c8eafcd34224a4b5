import JobQueue
import Redis

/// The pages of the event stream that couriers read. Those that are at the same place share one read: of a thousand endpoints that
/// a new event wakes, one asks Redis and decodes.
actor EventPages {
    /// Events after a place.
    struct Page: Sendable {
        var events: [StreamEvent] = []
        /// The place after them.
        let position: String
        /// Why there are none: an entry before that place is no event, or events after the first place were trimmed.
        var refusal: QueueError?
    }

    /// Most pages that are kept, of 500 events at most.
    static let pagesMax = 8
    /// How long a page is used: a page that was not full lacks what came since.
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

    /// Pages that are kept.
    var count: Int { pages.count }

    /// New events came: pages are read anew.
    func ring() { pages = [:] }

    /// The events after a place.
    ///
    /// - Throws: as `EventReader.next`; `unreadableEvent` and `tokenExpired` are in the page instead.
    func page(after position: String) async throws(QueueError) -> Page {
        let now = ContinuousClock.now
        if let page = pages[position], now - page.at < ageMax {
            return try await page.read.value.get()
        }
        if pages.count >= Self.pagesMax { pages = [:] }
        let read = Task { [queue, redis] () -> Result<Page, QueueError> in
            var reader = EventReader(queue: queue, redis: redis, after: position)
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
        pages[position] = (read, now)
        return try await read.value.get()
    }

    /// One entry; nil when it is gone, or is no event.
    ///
    /// - Throws: `redis`.
    func event(at id: String) async throws(WebhookError) -> StreamEvent? {
        try await rows(id, id).first.flatMap(StreamEvent.init(row:))
    }

    /// The oldest entry that is left, and its id when it is no event; without one, the place where the next will come.
    ///
    /// - Throws: `redis`.
    func oldest() async throws(WebhookError) -> (id: String, event: StreamEvent?) {
        if let row = try await rows("-", "+").first, let id = row.array?.first?.string {
            return (id, StreamEvent(row: row))
        }
        let key = RedisArgument(queue.keys.events)
        guard try await send(["EXISTS", key]).int == 1 else { return (EventReader.beginning, nil) }
        let words = try await send(["XINFO", "STREAM", key]).array ?? []
        let place = words.firstIndex { $0.string == "last-generated-id" }
        let id = place.flatMap { words.indices.contains($0 + 1) ? words[$0 + 1].string : nil }
        return (id ?? EventReader.beginning, nil)
    }

    private func rows(_ first: String, _ last: String) async throws(WebhookError) -> [RedisReply] {
        try await send([
            "XRANGE", RedisArgument(queue.keys.events), RedisArgument(first), RedisArgument(last),
            "COUNT", "1",
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
