import AccessKeys
import Edits
import HTTPTypes
import JobQueue
import Logging
import NIOCore
import Operations

extension Reach {
    /// A name that is equal for equal reaches alone. It is ASCII: two folders whose names differ in Unicode's normal form are
    /// equal as Swift's strings, and are two folders. No tenant's name has a space.
    var viewName: String { "\(tenant ?? "") \(folder.percentEncoded(keeping: "/"))" }
}

/// A reader of events from one place on. It sees only its own tenant's events, in its tenant's view.
struct EventFollower: Sendable {
    /// An event in this follower's view.
    struct Shown: Sendable {
        let id: String
        let type: String
        let json: String

        var line: String { #"{"id":"\#(id)","event":\#(json)}"# + "\n" }
    }

    /// The events after a position.
    struct Page: Sendable {
        /// The entries, including those that this follower may not see.
        let entries: [EventReader.Entry]
        /// The position from which to continue.
        let position: StreamID
        /// Whether the stream has no events after it now.
        let isLast: Bool
        /// Whether the position is before the one that was asked for, because Redis has lost its last events.
        var isSetBack = false
        /// The most events of the next page, if that is read from the stream itself.
        var countNext = EventReader.turnFirst
    }

    /// The most bytes of events in one write; a single event may have more.
    private static let pieceBytesMax = 64 << 10
    /// The most events that are turned into bytes outside of a turn (``CallPermits/readings``): a follower that has caught up gets
    /// fewer at a time.
    private static let fewEvents = 50

    let start: StreamID
    /// Whether the client gave a time as its position, and not the id of an event.
    private let isStartTime: Bool
    /// The name of the view: equal for all followers that see the same text of an event.
    private let name: String
    private let view: TenantView
    private let key: AccessKey
    private let types: Set<String>
    private let events: EventFeed
    private let permits: CallPermits
    private let keys: KeyRing
    private let logger: Logger

    /// - Throws: `badParameter`, `queueUnavailable`.
    init(_ call: Call) throws(Problem) {
        let key = try call.key
        self.key = key
        name = key.reach.viewName
        view = key.view
        types = Set(call.queries("type"))
        (events, permits) = (call.parts.events, call.parts.permits)
        (keys, logger) = (call.parts.keys, call.parts.logger)
        // A browser that has received no event sends an empty `Last-Event-ID`.
        let last = call.header(.lastEventID).flatMap { $0.isEmpty ? nil : $0 }
        switch last ?? call.query("after") {
        case nil, "$"?:
            guard let newest = events.hub.newest else {
                throw Problem(
                    .queueUnavailable, "The queue does not answer the gateway.",
                    retryAfter: Problem.retrySeconds)
            }
            (start, isStartTime) = (newest, false)
        case let text?:
            (start, isStartTime) = (try Self.position(text), !text.contains("-"))
        }
        // After a reconnect, the URL still has the older position. It is validated, but not used.
        if last != nil, let text = call.query("after"), text != "$" { _ = try Self.position(text) }
    }

    private static func position(_ text: String) throws(Problem) -> StreamID {
        guard let position = StreamID(text) else {
            throw Problem(
                .badParameter,
                "The position \(String(text.prefix(80)).debugDescription) is no id of an event, such as 1763700000000-0."
            )
        }
        return position
    }

    /// Returns the next events, from the hub's buffer or from the stream itself.
    ///
    /// - Parameter count: the most events that are read from the stream.
    /// - Throws: `gone` if events after the position may have been trimmed.
    func page(after position: StreamID, count: Int) async throws -> Page {
        switch events.hub.entries(after: position) {
        case .none: return Page(entries: [], position: position, isLast: true)
        case .entries(let entries):
            return Page(
                entries: entries.map(\.event),
                position: entries.last?.position ?? position, isLast: false)
        case .tooOld:
            return try await permits.reading(of: key) {
                try await read(after: position, count: count)
            }
        }
    }

    /// Sends events as they arrive, until the task is cancelled.
    func follow(_ sink: EventSink) async throws {
        var (position, count) = (start, EventReader.turnFirst)
        while !Task.isCancelled {
            // A key that was revoked meanwhile reads no further event. The reason is in the response when the client
            // reconnects.
            do throws(KeyError) { _ = try await keys.key(named: key.id) } catch { return }
            let page: Page
            do {
                page = try await self.page(after: position, count: count)
            } catch let problem as Problem where problem.code == ProblemCode.gone.rawValue {
                // An EventSource that receives a status other than 200 stops for good, so this error is sent within the
                // stream.
                let newest = events.hub.newest?.description ?? EventReader.beginning
                try await sink.send(
                    event: "expired",
                    data: JSONValue.object([
                        "newest": .string(newest), "detail": .string(problem.detail),
                    ]).canonical)
                return
            }
            if page.isSetBack {
                // A client that reconnects continues from here.
                try await sink.send(
                    EventSink.frame(
                        id: page.position.description, event: "setBack",
                        data: JSONValue.object([
                            "detail": .string(
                                "Redis has lost its last events, of which all after this position were sent before. "
                                    + "Nothing is missing: jobs whose ends were lost report them again."
                            )
                        ]).canonical))
            }
            try await send(page.entries, to: sink)
            (position, count) = (page.position, page.countNext)
            if page.isLast { await events.hub.wait(after: position) }
        }
    }

    /// Sends the events that this follower may see; small events share a write.
    private func send(_ entries: [EventReader.Entry], to sink: EventSink) async throws {
        var rest = entries[...]
        while !rest.isEmpty {
            let piece: ByteBuffer
            if rest.count <= Self.fewEvents {
                piece = try takePiece(&rest)
            } else {
                piece = try await permits.reading(of: key) { try takePiece(&rest) }
            }
            // No turn is held while the client reads.
            if piece.readableBytes > 0 { try await sink.send(piece) }
        }
    }

    /// Removes events from the front, and returns those that this follower may see, as the bytes of one write.
    private func takePiece(_ rest: inout ArraySlice<EventReader.Entry>) throws -> ByteBuffer {
        var piece = ByteBuffer()
        while let entry = rest.first {
            let frame =
                try !isWanted(entry)
                ? nil
                : events.frames.frame(of: entry.id, in: name) {
                    try shown(entry).map {
                        try EventSink.frame(id: $0.id, event: $0.type, data: $0.json)
                    }
                }
            if var frame {
                if piece.readableBytes == 0 {
                    piece = frame
                } else if piece.readableBytes + frame.readableBytes > Self.pieceBytesMax {
                    break
                } else {
                    piece.writeBuffer(&frame)
                }
            }
            rest.removeFirst()
        }
        return piece
    }

    /// Returns the next events of the stream that this follower may see as lines of JSON, read in the caller's turn.
    ///
    /// - Throws: the same as ``page(after:count:)``; `tooManyRequests`.
    func lines(
        after position: StreamID, count: Int
    ) async throws -> (lines: ByteBuffer, page: Page) {
        try await permits.reading(of: key) {
            let page = try await read(after: position, count: count)
            var lines = ByteBuffer()
            for entry in page.entries {
                if let event = shown(entry) { lines.writeString(event.line) }
            }
            return (lines, page)
        }
    }

    /// Reads the next events from the stream itself. The stream has every event that the queue has acknowledged, while
    /// the hub may not have read it yet.
    ///
    /// - Throws: the same as ``page(after:count:)``.
    private func read(after position: StreamID, count: Int) async throws -> Page {
        let isTime = isStartTime && position == start
        var reader = events.reader(
            after: isTime ? "\(position.milliseconds)" : position.description, of: key.tenant,
            atMost: count)
        do throws(QueueError) {
            let entries = try await reader.next()
            return Page(
                entries: entries,
                position: StreamID(reader.position) ?? position, isLast: entries.isEmpty,
                isSetBack: reader.lostPosition != nil,
                countNext: EventReader.turnNext(after: entries))
        } catch {
            switch error.code {
            case .tokenExpired:
                throw Problem(
                    .gone,
                    "Events after \(position) are no longer all kept. Read the state of the assets, then continue from "
                        + "the newest "
                        + "event.",
                    facts: ["newest": .string(events.hub.newest?.description ?? "")])
            case .unreadableEvent:
                return Page(
                    entries: [], position: StreamID(reader.position) ?? position, isLast: false)
            default: throw error
            }
        }
    }

    private func isWanted(_ entry: EventReader.Entry) -> Bool {
        types.isEmpty || types.contains(entry.event.type)
    }

    /// Returns an event in this follower's view; nil if the follower may not see it or did not request its type.
    func shown(_ entry: EventReader.Entry) -> Shown? {
        guard isWanted(entry) else { return nil }
        do throws(Failure) {
            return try view.view(entry.event, json: entry.json).map {
                Shown(id: entry.id, type: entry.event.type, json: $0)
            }
        } catch {
            // The reader has already parsed the event, so it is JSON.
            logger.error("event \(entry.id) is kept from a tenant: \(error)")
            return nil
        }
    }
}
