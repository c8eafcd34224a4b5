import Edits
import FoundationEssentials
import JobQueue
import Redis
import Synchronization

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

/// An entry of the event stream.
struct StreamEvent: Sendable {
    let id: String
    /// The CloudEvent as the queue wrote it.
    let json: String
    /// The CloudEvent, decoded.
    let event: JobEvent

    init(_ entry: EventReader.Entry) {
        id = entry.id
        json = entry.json
        event = entry.event
    }

    /// Decodes a row of XRANGE.
    ///
    /// - Returns: The event; nil if the row is not an event that this minilab reads.
    init?(row: RedisReply) {
        guard let id = row.array?.first?.string,
            let bytes = row.array?.last?.array?.last?.bytes,
            // The reader that reads the stream in order reports such an entry.
            let event = try? JSONDecoder().decode(JobEvent.self, from: Data(bytes))
        else { return nil }
        self.id = id
        json = String(decoding: bytes, as: UTF8.self)
        self.event = event
    }

    /// Returns the time at which an entry was added, ms since 1970, from its id.
    static func milliseconds(of id: String) -> Int { Int(id.prefix { $0 != "-" }) ?? 0 }
}

/// A wait that another task may end. A `wake` before the wait begins ends it, too.
final class WakeSignal: Sendable {
    private let state = Mutex((isWoken: false, wait: nil as Task<Void, Never>?))

    /// Waits until the time is over, `wake` is called or the task is cancelled. Only one caller may wait at a time.
    func wait(atMost time: Duration) async {
        let wait = state.withLock { state -> Task<Void, Never>? in
            if state.isWoken { return nil }
            let wait = Task {
                // The sleep is cancelled by `wake`, and then ends early.
                _ = try? await Task.sleep(for: time)
            }
            state.wait = wait
            return wait
        }
        if let wait {
            await withTaskCancellationHandler {
                await wait.value
            } onCancel: {
                wait.cancel()
            }
        }
        state.withLock { $0 = (false, nil) }
    }

    /// Ends the wait.
    func wake() {
        state.withLock { state in
            state.isWoken = true
            state.wait?.cancel()
        }
    }
}

/// Waits for new events and for changes of endpoints, with one blocking read of both streams.
actor WebhookChangeReader {
    /// The changes that a wait returned.
    struct Changes: Sendable {
        /// The id of the newest event, if any arrived.
        var newest: String?
        /// The endpoints that were created, changed, removed or set back.
        var endpoints: Set<String> = []
    }

    private let queue: QueueName
    private let redis: RedisClient
    /// The last entries that were read, of events and of the control stream; nil before the start and after a failure.
    private var heard: (events: String, control: String)?

    init(queue: QueueName, redis: RedisClient) {
        self.queue = queue
        self.redis = redis
    }

    /// Finds the newest entries. Earlier changes are known from the records.
    func start() async throws(WebhookError) {
        if heard != nil { return }
        heard = (try await newest(queue.keys.events), try await newest(queue.keys.control))
    }

    func wait(atMost time: Duration) async throws(WebhookError) -> Changes {
        guard let before = heard else { return Changes() }
        heard = nil
        let reply = try await send(
            [
                "XREAD", "COUNT", "100", "BLOCK", RedisArgument(max(1, time.milliseconds)),
                "STREAMS",
                RedisArgument(queue.keys.events), RedisArgument(queue.keys.control),
                RedisArgument(before.events), RedisArgument(before.control),
            ], timeout: time + .seconds(5))
        var now = before
        var changes = Changes()
        for stream in reply.array ?? [] {
            guard let key = stream.array?.first?.string, let rows = stream.array?.last?.array,
                let last = rows.last?.array?.first?.string
            else { continue }
            if key == queue.keys.events {
                // Couriers read all available events, so those that arrived together must not cause another wake-up.
                now.events = rows.count < 100 ? last : try await newest(queue.keys.events)
                changes.newest = now.events
            } else {
                now.control = last
                changes.endpoints = Set(
                    rows.compactMap { row in
                        let fields = row.array?.last?.array ?? []
                        return fields.first?.string == "webhook" ? fields.last?.string : nil
                    })
            }
        }
        heard = now
        return changes
    }

    private func newest(_ key: String) async throws(WebhookError) -> String {
        try await send(["XREVRANGE", RedisArgument(key), "+", "-", "COUNT", "1"])
            .array?.first?.array?.first?.string ?? EventReader.beginning
    }

    private func send(
        _ command: [RedisArgument], timeout: Duration? = nil
    ) async throws(WebhookError) -> RedisReply {
        do {
            return try await redis.send(command, timeout: timeout)
        } catch {
            throw WebhookError(.redis, "listening to queue \(queue): \(error)", cause: error)
        }
    }
}
