import AccessKeys
import Edits
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

/// The routes of replays of many dead jobs: a preview first, then the replay with its progress.
enum ReplayRoutes {
    static let routes: [Route] = [
        Route(
            .post, "/v1/replays", .key(.operate), name: "replay", group: "dead",
            "Replays dead jobs, or returns the jobs that would be replayed.",
            body: .json(.schema("Replay")),
            answers: [
                .init(.ok, "What would be replayed, of a dry run.", .schema("ReplayPreview")),
                .init(
                    .accepted, "It runs.", .schema("ReplayOrder"),
                    headers: ["Location", "Retry-After"]),
            ], problems: [.conflict, .notFound], handle: start),
        Route(
            .get, "/v1/replays", .key(.operate), name: "listReplays", group: "dead",
            "Replays, the newest first.",
            answers: [
                .init(
                    .ok, "The replays.",
                    .fields(["replays": .list(.schema("ReplayOrder"))], required: ["replays"]))
            ]
        ) { call in
            let key = try call.key
            // Each may have an edit of 64 KB.
            let orders = try await call.parts.permits.reading(of: key) {
                try await call.parts.replays.list().filter { $0.isWithin(key.reach) }
            }
            return try .json(["replays": orders])
        },
        Route(
            .get, "/v1/replays/{id}", .key(.operate), name: "readReplay", group: "dead",
            "How far a replay is.", parameters: [.path("id", "The replay.")],
            answers: [.init(.ok, "The replay.", .schema("ReplayOrder"))]
        ) { call in try .json(try await find(call)) },
        Route(
            .post, "/v1/replays/{id}/stop", .key(.operate), name: "stopReplay", group: "dead",
            "Stops a replay; the jobs that it started continue.",
            parameters: [.path("id", "The replay.")],
            answers: [.init(.ok, "The replay.", .schema("ReplayOrder"))]
        ) { call in
            let order = try await find(call)
            guard let stopped = try await call.parts.replays.stop(order.id, at: call.now)
            else { throw unknown(order.id) }
            try await call.parts.audit.note("stopReplay", stopped.id, by: call.doer)
            return try .json(stopped)
        },
    ]

    private static func start(_ call: Call) async throws -> Response {
        let body = try ReplayBody(try await call.json())
        let (order, preview) = try await ReplayPlan.make(body, call)
        if body.isDryRun { return try .json(preview) }
        try await ReplayPlan.start(order, preview, expected: body.expected, call)
        return try .json(
            order, status: .accepted,
            headers: [.location: "/v1/replays/\(order.id)", .retryAfter: "1"])
    }

    /// Finds the replay that the path names.
    ///
    /// - Throws: `notFound` if it is missing or not the caller's.
    static func find(_ call: Call) async throws -> ReplayOrder {
        try await find(call.parameter("id"), call)
    }

    static func find(_ id: String, _ call: Call) async throws -> ReplayOrder {
        guard let order = try await call.parts.replays.find(id),
            order.isWithin(try call.key.reach)
        else { throw unknown(id) }
        return order
    }

    private static func unknown(_ id: String) -> Problem {
        Problem(.notFound, "There is no replay \(String(id.prefix(80)).debugDescription).")
    }
}
