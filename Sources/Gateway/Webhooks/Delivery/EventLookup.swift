import Edits
import JobQueue
import Redis
import Synchronization

/// Single entries of the event stream. A courier asks for those that the hub does not have.
extension WebhookStore {
    /// Decodes a row of XRANGE; nil also if it is not an event: the reader that reads the stream in order reports such an entry.
    func entry(_ row: RedisReply) -> EventReader.Entry? {
        do throws(QueueError) { return try EventReader.Entry(row: row, of: queue) } catch {
            return nil
        }
    }

    /// Returns one entry, also one that is kept for a tenant alone; nil if it is gone, or is not an event.
    ///
    /// - Throws: `redis`.
    func event(at id: String, of tenant: String?) async throws(WebhookError) -> EventReader.Entry? {
        var row = try await rows(id, id).first
        if row == nil, let tenant {
            row = try await rows(id, id, in: queue.keys.keptEvents(of: tenant)).first
        }
        return row.flatMap(entry)
    }

    /// The maximum number of events before a delivery's first attempt that are searched for its event, if an earlier release recorded it:
    /// some 5 MB.
    private static let searchedEventsMax = 10_000
    /// The number of events of one read.
    private static let searchedPage = 500

    /// Returns the newest entry of the event stream with a CloudEvents id, added no later than a time in ms since 1970.
    func event(
        named name: String, notAfter time: Int
    ) async throws(WebhookError) -> EventReader.Entry? {
        var position = "\(time)"
        for _ in 0..<Self.searchedEventsMax / Self.searchedPage {
            let rows =
                try await send([
                    "XREVRANGE", RedisArgument(queue.keys.events), RedisArgument(position), "-",
                    "COUNT", RedisArgument(Self.searchedPage),
                ]).array ?? []
            for event in rows.lazy.compactMap(entry) where event.event.id == name {
                return event
            }
            guard rows.count == Self.searchedPage, let id = rows.last?.array?.first?.string else {
                return nil
            }
            position = "(\(id)"
        }
        return nil
    }

    /// Returns the oldest remaining entry, or only its id if it is not an event; without an entry, the position of the next one.
    /// That of a tenant may be kept for it alone.
    ///
    /// - Throws: `redis`.
    func oldest(of tenant: String?) async throws(WebhookError) -> (
        id: String, event: EventReader.Entry?
    ) {
        if let tenant,
            let row = try await rows("-", "+", in: queue.keys.keptEvents(of: tenant)).first,
            let id = row.array?.first?.string
        {
            return (id, entry(row))
        }
        if let row = try await rows("-", "+").first, let id = row.array?.first?.string {
            return (id, entry(row))
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

    func wake() {
        state.withLock { state in
            state.isWoken = true
            state.wait?.cancel()
        }
    }
}
