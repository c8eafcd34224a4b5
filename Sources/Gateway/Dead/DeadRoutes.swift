import AccessKeys
import Adjustments
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

/// Dead jobs: listed, grouped, bundled for a report, replayed.
enum DeadRoutes {
    static let routes: [Route] = [
        Route(
            .get, "/v1/dead", .key(.operate), name: "listDead", group: "dead",
            "Dead jobs, the one that died first at the front.",
            parameters: filters + [
                .query("count", "How many at most.", schema: .integer(1...countMax))
            ],
            answers: [
                .init(
                    .ok, "The jobs.", .fields(["dead": .list(.anything)], required: ["dead"]))
            ], handle: list)
    ]

    private static let countMax = 200

    static let filters: [Route.Parameter] = [
        .query("batch", "Of this batch.", schema: .schema("ID")),
        .query("tenant", "Of this tenant.", schema: .schema("ID")),
        .query("code", "That died of this code; may be given again."),
        .query("since", "That died at this time or later, or so long ago: 2h."),
        .query("until", "That died at this time or before."),
        .query("edit", "That have the edit with this SHA-256."),
    ]

    /// The filter of the query; a tenant's key means its own jobs alone.
    static func filter(_ call: Call) throws -> DeadFilter {
        var text = DeadFilterText()
        text.batch = call.query("batch")
        text.tenant = call.query("tenant")
        text.codes = call.queries("code")
        text.since = call.query("since")
        text.until = call.query("until")
        text.edit = call.query("edit")
        var filter = try text.filter(now: .now) { $0 }
        if let tenant = try call.key.tenant {
            guard filter.tenant == nil || filter.tenant == tenant else {
                throw Problem(.notFound, "There is no tenant \(filter.tenant?.string ?? "").")
            }
            filter.tenant = tenant
        }
        return filter
    }

    private static func list(_ call: Call) async throws -> Response {
        let key = try call.key
        let count = try call.number("count", in: 1...countMax) ?? 50
        var reader = try await DeadReader(call.parts.queue, filter(call))
        var records: [JobRecord] = []
        while records.count < count, let page = try await reader.next() {
            records += page.lazy.filter { record in
                key.tenant == nil || key.covers(storedID: record.job)
            }.prefix(count - records.count)
        }
        return try .json(["dead": records])
    }
}
