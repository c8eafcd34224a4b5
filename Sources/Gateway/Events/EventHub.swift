import DequeModule
package import JobQueue
package import Logging
package import Redis
import Synchronization

/// The newest events of the queue, read once for all who follow them through this gateway.
///
/// Each follower keeps its own place and asks for what comes after it; nothing is buffered for anybody. Who is behind
/// what the hub keeps reads the stream itself until it has caught up.
package final class EventHub: Sendable {
    /// Events that are kept: some 10 MB.
    package static let keptMax = 10_000
    /// Most events of one answer.
    static let answerMax = 500
    /// How long a read waits for an event: followers are called at least so often.
    private static let readWait: Duration = .seconds(5)
    /// How long the hub waits after Redis did not answer.
    private static let retryWait: Duration = .seconds(1)

    /// An event in its place.
    package struct Entry: Sendable {
        package let place: StreamID
        package let event: EventReader.Entry
    }

    /// The events after a place.
    enum Answer {
        /// These are next.
        case entries([Entry])
        /// Nothing yet.
        case none
        /// The hub does not reach back so far.
        case tooOld
    }

    private struct State {
        var kept: Deque<Entry> = []
        /// All events after this place are kept.
        var keptAfter: StreamID?
        /// The newest event there is, as far as is known; nil until Redis has answered.
        var newest: StreamID?
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var waits = 0
        var hasContact = false
    }

    private let queue: QueueName
    private let ear: RedisClient
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter ear: a client of its own, because its reads wait.
    package init(queue: QueueName, ear: RedisClient, logger: Logger) {
        self.queue = queue
        self.ear = ear
        self.logger = logger
    }

    /// Whether Redis answered the last read.
    package var hasContact: Bool { state.withLock { $0.hasContact } }
    /// The place of the newest event; nil until Redis has answered.
    package var newest: StreamID? { state.withLock { $0.newest } }
    /// How many follow at the moment, without an event to read.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The next events after a place.
    func entries(after place: StreamID) -> Answer {
        state.withLock { state in
            guard let oldest = state.keptAfter, let newest = state.newest else { return .tooOld }
            if place < oldest || place > newest { return .tooOld }
            if place == newest { return .none }
            let first = state.kept.partitioningIndex { $0.place > place }
            let next = state.kept[first...].prefix(Self.answerMax)
            return next.isEmpty ? .none : .entries(Array(next))
        }
    }

    /// Waits until there is something after a place, a few seconds at most, or until the task is cancelled.
    func wait(after place: StreamID) async {
        let id = state.withLock { state in
            state.waits += 1
            return state.waits
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    // Cancelled before: nobody would resume it any more. Cancelled from here on: `onCancel` waits for the lock.
                    if Task.isCancelled || state.newest.map({ $0 > place }) ?? false { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// Reads events until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            do throws(QueueError) {
                let reader = try await EventReader(queue: queue, redis: ear, afterNewest: ())
                begin(at: StreamID(reader.position) ?? .beginning)
                try await follow(reader)
            } catch {
                // A read that the end of the gateway cut off is no trouble.
                if Task.isCancelled { break }
                lose(error)
                // Cancelled: the loop ends by itself.
                _ = try? await Task.sleep(for: Self.retryWait)
            }
        }
        callAll()
    }

    private func follow(_ start: EventReader) async throws(QueueError) {
        var reader = start
        while !Task.isCancelled {
            do throws(QueueError) {
                keep(try await reader.next(waiting: Self.readWait))
            } catch {
                guard error.code == .unreadableEvent else { throw error }
                logger.warning("\(error.message)")
            }
        }
    }

    private func begin(at place: StreamID) {
        state.withLock { state in
            // The kept events are still all there are when none came meanwhile.
            if state.newest != place {
                state.kept.removeAll()
                state.keptAfter = place
            }
            state.newest = place
            state.hasContact = true
        }
        callAll()
    }

    private func keep(_ entries: [EventReader.Entry]) {
        state.withLock { state in
            state.hasContact = true
            for entry in entries {
                guard let place = StreamID(entry.id) else { continue }
                state.kept.append(Entry(place: place, event: entry))
                state.newest = place
            }
            while state.kept.count > Self.keptMax, let dropped = state.kept.popFirst() {
                state.keptAfter = dropped.place
            }
        }
        callAll()
    }

    private func lose(_ error: QueueError) {
        let hadContact = state.withLock { state in
            defer { state.hasContact = false }
            return state.hasContact
        }
        if hadContact { logger.warning("events are not read for now: \(error)") }
        callAll()
    }

    private func callAll() {
        let waiting = state.withLock { state in
            defer { state.waiting.removeAll(keepingCapacity: true) }
            return state.waiting.values.map(\.self)
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension Deque {
    /// The index of the first element of which something holds, in a row where it holds of none before the first.
    fileprivate func partitioningIndex(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
