import DequeModule
import Edits
package import Logging
package import Redis
import Synchronization

/// The newest events of the queue, read once for all followers in this process.
///
/// Each follower keeps its own place and requests the events after it, so nothing is buffered per follower. A follower
/// that is behind the hub's buffer reads the stream itself until it has caught up.
package final class EventHub: Sendable {
    /// Events that are kept, about 10 MB.
    package static let keptMax = 10_000
    /// The most bytes of their JSON. Parsed they take three times as much, and an event with 16 renditions of a long name has 25 KB.
    package static let keptBytesMax = 32 << 20
    /// The most events of one answer.
    package static let answerMax = EventReader.batchMax
    /// The longest wait of a read for an event. Followers are resumed at least this often.
    private static let readWait: Duration = .seconds(5)
    /// The time for which events gather after a reading that found some. Each reading resumes every follower and every call that waits
    /// for a job, some 5 µs each: of a thousand they are 5 ms, and a busy queue has an event each ms.
    package static let gatherTime: Duration = .milliseconds(25)
    /// The wait of the hub after an error of Redis.
    private static let retryWait: Duration = .seconds(1)

    /// An event and its place.
    package struct Entry: Sendable {
        package let position: StreamID
        package let event: EventReader.Entry
    }

    /// The events after a position.
    package enum Answer {
        /// The next events.
        case entries([Entry])
        /// There are no events after the position yet.
        case none
        /// The position is older than the hub's buffer.
        case tooOld
    }

    private struct State {
        var kept: Deque<Entry> = []
        var keptBytes = 0
        /// The hub has all events after this position.
        var keptAfter: StreamID?
        /// The newest known event; nil until Redis has answered.
        var newest: StreamID?
        var waiting: [FirstAnswer<Void>] = []
        var hasContact = false
    }

    private let queue: QueueName
    private let eventReads: RedisClient
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter eventReads: a separate client, because its reads block.
    package init(queue: QueueName, eventReads: RedisClient, logger: Logger) {
        self.queue = queue
        self.eventReads = eventReads
        self.logger = logger
    }

    /// Whether Redis answered the last read.
    package var hasContact: Bool { state.withLock { $0.hasContact } }
    /// The position of the newest event; nil until Redis has answered.
    package var newest: StreamID? { state.withLock { $0.newest } }
    /// The number of followers that wait for an event.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Returns the next events after a position.
    package func entries(after position: StreamID) -> Answer {
        state.withLock { state in
            guard let oldest = state.keptAfter, let newest = state.newest else { return .tooOld }
            if position < oldest || position > newest { return .tooOld }
            if position == newest { return .none }
            let first = state.kept.partitioningIndex { $0.position > position }
            let next = state.kept[first...].prefix(Self.answerMax)
            return next.isEmpty ? .none : .entries(Array(next))
        }
    }

    /// Waits a few seconds at most for an event after a position, or until the task is cancelled.
    package func wait(after position: StreamID) async {
        let answer = FirstAnswer<Void>()
        let isDue = state.withLock { state in
            if state.newest.map({ $0 > position }) ?? false { return true }
            state.waiting.append(answer)
            return false
        }
        if isDue { return }
        do { try await answer.value } catch {
            state.withLock { $0.waiting.removeAll { $0 === answer } }
        }
    }

    /// Asks once for the newest event, so that followers are answered before ``run()`` reads.
    ///
    /// A failure is logged, and left to ``run()``.
    package func begin() async {
        do throws(QueueError) { _ = try await startReading() } catch {
            logger.warning("events are not read for now: \(error)")
        }
    }

    private func startReading() async throws(QueueError) -> EventReader {
        let reader = try await EventReader(queue: queue, redis: eventReads, afterNewest: ())
        begin(at: StreamID(reader.position) ?? .beginning)
        return reader
    }

    /// Reads events until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            do throws(QueueError) {
                try await follow(try await startReading())
            } catch {
                // A read that was cancelled by the gateway's shutdown is not an error.
                if Task.isCancelled { break }
                lose(error)
                // If the task is cancelled, the loop ends.
                _ = try? await Task.sleep(for: Self.retryWait)
            }
        }
        callAll()
    }

    private func follow(_ start: EventReader) async throws(QueueError) {
        var reader = start
        while !Task.isCancelled {
            do throws(QueueError) {
                let entries = try await reader.next(waiting: Self.readWait)
                keep(entries)
                // A reading that was full is behind.
                if !entries.isEmpty, entries.count < Self.answerMax { await gather() }
            } catch {
                guard error.code == .unreadableEvent else { throw error }
                logger.warning("\(error.message)")
            }
        }
    }

    private func gather() async {
        do { try await Task.sleep(for: Self.gatherTime) } catch {
            // Cancelled: the reading ends.
        }
    }

    private func begin(at position: StreamID) {
        state.withLock { state in
            // If no event arrived meanwhile, the buffer is still complete.
            if state.newest != position {
                state.kept.removeAll()
                state.keptBytes = 0
                state.keptAfter = position
            }
            state.newest = position
            state.hasContact = true
        }
        callAll()
    }

    private func keep(_ entries: [EventReader.Entry]) {
        state.withLock { state in
            state.hasContact = true
            for entry in entries {
                guard let position = StreamID(entry.id) else { continue }
                state.kept.append(Entry(position: position, event: entry))
                state.keptBytes += entry.json.utf8.count
                state.newest = position
            }
            while state.kept.count > Self.keptMax || state.keptBytes > Self.keptBytesMax,
                let dropped = state.kept.popFirst()
            {
                state.keptBytes -= dropped.event.json.utf8.count
                state.keptAfter = dropped.position
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
            return state.waiting
        }
        for answer in waiting { answer.give(.success(())) }
    }
}

extension Deque {
    /// Returns the index of the first element for which `holds` is true, in elements sorted so that all false ones are
    /// first.
    fileprivate func partitioningIndex(_ holds: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
