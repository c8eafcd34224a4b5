import AccessKeys
import Adjustments
import HTTPTypes
import JobQueue
import Logging
import NIOCore
import Operations

/// Somebody who reads events from a place on: only those of its own, as it may see them.
struct EventFollower: Sendable {
    /// An event for this follower.
    struct Shown: Sendable {
        let id: String
        let type: String
        let json: String

        /// The event with its id, as a line of JSON.
        var line: String { #"{"id":"\#(id)","event":\#(json)}"# + "\n" }
    }

    /// Events after a place.
    struct Page: Sendable {
        /// Also those that this follower does not see.
        let entries: [EventReader.Entry]
        /// Where to go on.
        let place: StreamID
        /// Whether there is nothing after it now.
        let isLast: Bool
    }

    /// Most bytes of events that are written at once; one event may have more.
    private static let pieceBytesMax = 64 << 10

    let start: StreamID
    /// The same text for all followers that see the same of an event.
    private let view: String
    private let key: AccessKey
    private let types: Set<String>
    private let parts: GatewayParts

    /// - Throws: `badParameter`, `queueUnavailable`.
    init(_ call: Call) throws(Problem) {
        let key = try call.key
        self.key = key
        view = key.terms.tenant.map { "\($0) \(key.terms.assetPrefix.string)" } ?? ""
        types = Set(call.queries("type"))
        parts = call.parts
        // A browser that has seen no event sends an empty one.
        let last = call.header(.lastEventID).flatMap { $0.isEmpty ? nil : $0 }
        switch last ?? call.query("after") {
        case nil, "$"?:
            guard let newest = call.parts.hub.newest else {
                throw Problem(
                    .queueUnavailable, "The queue does not answer the gateway.",
                    retryAfter: Problem.retrySeconds)
            }
            start = newest
        case let text?:
            start = try Self.place(text)
        }
        // The older place of the address is still there when a browser connects again; it is not read then.
        if last != nil, let text = call.query("after"), text != "$" { _ = try Self.place(text) }
    }

    private static func place(_ text: String) throws(Problem) -> StreamID {
        guard let place = StreamID(text) else {
            throw Problem(
                .badParameter,
                "The place \(String(text.prefix(80)).debugDescription) is no id of an event, such as 1763700000000-0."
            )
        }
        return place
    }

    /// The next events, from what the hub keeps or from the stream itself.
    ///
    /// - Throws: `gone` when events after the place may have been trimmed.
    func page(after place: StreamID) async throws -> Page {
        switch parts.hub.entries(after: place) {
        case .none: return Page(entries: [], place: place, isLast: true)
        case .entries(let entries):
            return Page(
                entries: entries.map(\.event),
                place: entries.last?.place ?? place, isLast: false)
        case .tooOld: return try await read(after: place)
        }
    }

    /// Sends events as they come, until the task is cancelled.
    func follow(_ sink: EventSink) async throws {
        var place = start
        while !Task.isCancelled {
            // A key that is revoked meanwhile reads nothing more; a client that comes again is told why.
            do throws(KeyError) { _ = try await parts.keys.key(named: key.id) } catch { return }
            let page: Page
            do {
                page = try await self.page(after: place)
            } catch let problem as Problem where problem.code == ProblemCode.gone.rawValue {
                // An EventSource that gets another status than 200 ends for good: so it is told within the stream.
                let newest = parts.hub.newest?.description ?? EventReader.beginning
                try await sink.send(
                    event: "expired",
                    data: JSONValue.object([
                        "newest": .string(newest), "detail": .string(problem.detail),
                    ]).canonical)
                return
            }
            try await send(page.entries, to: sink)
            place = page.place
            if page.isLast { await parts.hub.wait(after: place) }
        }
    }

    /// Sends what this follower sees of events, several at a time while they are small.
    private func send(_ entries: [EventReader.Entry], to sink: EventSink) async throws {
        var waiting = ByteBuffer()
        for entry in entries where isWanted(entry) {
            let frame = try parts.frames.frame(of: entry.id, in: view) {
                try shown(entry).map {
                    try EventSink.frame(id: $0.id, event: $0.type, data: $0.json)
                }
            }
            guard var frame else { continue }
            if waiting.readableBytes + frame.readableBytes > Self.pieceBytesMax {
                if waiting.readableBytes > 0 { try await sink.send(waiting) }
                waiting = ByteBuffer()
            }
            if waiting.readableBytes == 0 { waiting = frame } else { waiting.writeBuffer(&frame) }
        }
        if waiting.readableBytes > 0 { try await sink.send(waiting) }
    }

    /// The next events from the stream itself: what the queue has answered before is in it, while the hub may not have read
    /// it yet.
    ///
    /// - Throws: as ``page(after:)``.
    func read(after place: StreamID) async throws -> Page {
        var reader = EventReader(
            queue: parts.queue.name, redis: parts.redis, after: place.description)
        do throws(QueueError) {
            let entries = try await reader.next()
            return Page(
                entries: entries,
                place: StreamID(reader.position) ?? place, isLast: entries.isEmpty)
        } catch {
            switch error.code {
            case .tokenExpired:
                throw Problem(
                    .gone,
                    "Events after \(place) are not all kept any more. Take stock of the assets, then go on from the newest "
                        + "event.",
                    facts: ["newest": .string(parts.hub.newest?.description ?? "")])
            case .unreadableEvent:
                return Page(
                    entries: [], place: StreamID(reader.position) ?? place, isLast: false)
            default: throw error
            }
        }
    }

    private func isWanted(_ entry: EventReader.Entry) -> Bool {
        types.isEmpty || types.contains(entry.event.type)
    }

    /// An event as this follower may see it; nil when it does not, or does not want to.
    func shown(_ entry: EventReader.Entry) -> Shown? {
        guard isWanted(entry) else { return nil }
        guard let view = key.tenantView else {
            return Shown(id: entry.id, type: entry.event.type, json: entry.json)
        }
        do throws(Failure) {
            return try view.view(json: entry.json).map {
                Shown(id: entry.id, type: entry.event.type, json: $0)
            }
        } catch {
            // The reader has read it as an event, so it is JSON.
            parts.logger.error("event \(entry.id) is kept from a tenant: \(error)")
            return nil
        }
    }
}
