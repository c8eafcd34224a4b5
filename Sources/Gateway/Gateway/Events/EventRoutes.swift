import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import JobQueue
import NIOCore

/// The routes of the queue's events, as Server-Sent Events or as JSON, one a line.
enum EventRoutes {
    static let routes: [Route] = [
        Route(
            .get, "/v1/events", .key(.read), name: "readEvents", group: "events",
            "Events after a position. text/event-stream continues with new events; application/x-ndjson ends with the "
                + "newest.",
            parameters: [
                .header(.accept, "text/event-stream or application/x-ndjson."),
                .header(
                    .lastEventID, "The id of the last event that was read.",
                    schema: .any(.schema("EventID"), .text(0...0))),
                .query(
                    "after", "The same; $ for the newest, 0 for the oldest that there is.",
                    schema: .any(.schema("EventID"), .choice(["", "$"]))),
                .query("type", "Only events of this type; may be given again."),
            ],
            answers: [
                .init(.ok, "The events.", .text, contentType: "text/event-stream"),
                .init(
                    .ok, "The events.",
                    .object([
                        "type": .string("string"), "x-minilab-line": .schema("EventLine"),
                    ]), contentType: "application/x-ndjson"),
            ], problems: [.gone], handle: read)
    ]

    private static func read(_ call: Call) async throws -> Response {
        let follower = try EventFollower(call)
        guard call.header(.accept)?.contains("text/event-stream") ?? false else {
            return try await lines(follower, call)
        }
        let permit = try call.parts.permits.stream(of: try call.key)
        return EventStreaming().response(to: call.request, over: call.channel) { sink in
            defer { permit.close() }
            try await follower.follow(sink)
        }
    }

    /// Returns the events up to now. The client continues after the id of the last one.
    private static func lines(_ follower: EventFollower, _ call: Call) async throws -> Response {
        // The first page is read before the head is sent, so that a trimmed position gives an error status and not a
        // broken body.
        let first = try await follower.lines(
            after: follower.start, count: EventReader.turnFirst)
        let body = ResponseBody { writer in
            var (lines, page) = first
            while true {
                if lines.readableBytes > 0 {
                    try await writer.write(lines)
                    try await call.channel.drain()
                }
                if page.isLast { break }
                (lines, page) = try await follower.lines(
                    after: page.position, count: page.countNext)
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"], body: body)
    }
}
