import AccessKeys
import Adjustments
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

/// Replays of many dead jobs: looked at first, then carried out with progress.
enum ReplayRoutes {
    static let routes: [Route] = [
        Route(
            .post, "/v1/replays", .key(.operate), name: "replay", group: "dead",
            "Starts dead jobs again, or says which would be.",
            body: .json(.schema("Replay")),
            answers: [
                .init(.ok, "What would be replayed, of a dry run.", .schema("ReplayPreview")),
                .init(
                    .accepted, "It runs.", .schema("ReplayOrder"),
                    headers: ["Location", "Retry-After"]),
            ], problems: [.conflict], handle: start),
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
            let orders = try await call.parts.replays.list().filter { covers(key, $0) }
            return try .json(["replays": orders])
        },
        Route(
            .get, "/v1/replays/{id}", .key(.operate), name: "readReplay", group: "dead",
            "How far a replay is.", parameters: [.path("id", "The replay.")],
            answers: [.init(.ok, "The replay.", .schema("ReplayOrder"))]
        ) { call in try .json(try await find(call)) },
        Route(
            .post, "/v1/replays/{id}/stop", .key(.operate), name: "stopReplay", group: "dead",
            "Stops a replay; what it started goes on.", parameters: [.path("id", "The replay.")],
            answers: [.init(.ok, "The replay.", .schema("ReplayOrder"))]
        ) { call in
            let order = try await find(call)
            guard let stopped = try await call.parts.replays.stop(order.id, at: milliseconds())
            else { throw unknown(order.id) }
            try await call.parts.audit.note("stopReplay", stopped.id, by: call.key)
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

    /// The replay of the path, if it is there and the caller's.
    static func find(_ call: Call) async throws -> ReplayOrder {
        try await find(call.parameter("id"), call)
    }

    static func find(_ id: String, _ call: Call) async throws -> ReplayOrder {
        guard let order = try await call.parts.replays.find(id), covers(try call.key, order) else {
            throw unknown(id)
        }
        return order
    }

    private static func covers(_ key: AccessKey, _ order: ReplayOrder) -> Bool {
        key.tenant == nil || order.tenant == key.tenant?.string
    }

    private static func unknown(_ id: String) -> Problem {
        Problem(.notFound, "There is no replay \(String(id.prefix(80)).debugDescription).")
    }

    static func milliseconds() -> Int { Int(Date.now.timeIntervalSince1970 * 1000) }
}

/// What a replay would do.
struct ReplayPreview: Encodable {
    let count: Int
    let isComplete: Bool
    let codes: [String: Int]
    /// The moment, ms since 1970, up to which jobs had died that are meant; give it with the replay.
    let until: Int
    /// Seconds that it takes about, of all workers.
    let aboutSeconds: Int?
    let sample: [Sample]
    /// The records of those.
    let jobs: [JobRecord]

    private enum CodingKeys: CodingKey {
        case count, isComplete, codes, until, aboutSeconds, sample
    }

    /// One of the jobs.
    struct Sample: Encodable {
        let job: String
        let asset: String
        let code: String?
        let message: String?
    }
}

/// The steps of a replay, for the API and the page alike.
enum ReplayPlan {
    static func make(
        _ body: ReplayBody, _ call: Call
    ) async throws -> (ReplayOrder, ReplayPreview) {
        let key = try call.key
        var filter = try body.filter.filter(now: .now) { $0 }
        if let tenant = key.tenant {
            guard filter.tenant == nil || filter.tenant == tenant else {
                throw Problem(.notFound, "There is no tenant \(filter.tenant?.string ?? "").")
            }
            filter.tenant = tenant
        }
        // What dies from now on is another decision.
        let until = min(filter.until ?? ReplayRoutes.milliseconds(), ReplayRoutes.milliseconds())
        filter.until = until
        if let edit = body.withEdit { try EditBorder(key).check(edit) }
        let tally = try await DeadTally(filter, on: call.parts.queue)
        let queue = call.parts.queue
        let jobs =
            key.tenantView.map { view in tally.sample.compactMap { view.view($0) } }
            ?? tally.sample
        let preview = ReplayPreview(
            count: tally.count, isComplete: tally.isComplete, codes: tally.codes, until: until,
            aboutSeconds: try await about(tally.count, rate: body.rate, queue),
            sample: jobs.map { record in
                .init(
                    job: record.job, asset: record.asset, code: record.code?.rawValue,
                    message: record.message)
            }, jobs: jobs)
        var random = SystemRandomNumberGenerator()
        let order = ReplayOrder(
            id: "r" + String(UInt64.random(in: 1 << 60...UInt64.max, using: &random), radix: 36),
            filter, until: until, withEdit: body.withEdit, rate: body.rate, by: key.id,
            startedAt: ReplayRoutes.milliseconds(), expected: tally.count)
        return (order, preview)
    }

    /// - Parameter expected: how many jobs were seen before; nil when nobody looked.
    static func start(
        _ order: ReplayOrder, _ preview: ReplayPreview, expected: Int?, _ call: Call
    ) async throws {
        if let expected, expected != preview.count {
            throw Problem(
                .countChanged,
                "\(preview.count) jobs are meant now, and \(expected) were expected: some were replayed, dropped or have "
                    + "changed. Look again.",
                facts: ["count": .number(Double(preview.count))])
        }
        try await call.parts.replays.add(order)
        try await call.parts.audit.note(
            "replay", "\(order.id): \(preview.count) jobs", by: call.key)
    }

    private static func about(_ count: Int, rate: Int?, _ queue: JobQueue) async throws -> Int? {
        let status = try await queue.status()
        let slots = status.workers.reduce(0) { $0 + $1.slots }
        guard slots > 0, let spent = status.counters["milliseconds"],
            let completed = status.counters["completed"], completed > 0
        else { return nil }
        let work = Double(count) * Double(spent) / Double(completed) / 1000 / Double(slots)
        return Int(max(work, rate.map { Double(count) / Double($0) } ?? 0).rounded(.up))
    }
}

/// The body of a replay.
struct ReplayBody {
    var filter = DeadFilterText()
    let rate: Int?
    let withEdit: Edit?
    let isDryRun: Bool
    let expected: Int?

    static let rateMax = 1_000_000
    private static let known: Set<String> = [
        "batch", "tenant", "codes", "since", "until", "edit", "rate", "withEdit", "dryRun",
        "expected",
    ]

    /// - Throws: `badBody`; what is wrong with the edit.
    init(_ json: JSONValue) throws {
        guard case .object(let fields) = json else {
            throw Problem(.badBody, "The body is \(json.kind); expected an object.")
        }
        if let unknown = fields.keys.sorted().first(where: { !Self.known.contains($0) }) {
            throw Problem(
                .badBody,
                "\(unknown.debugDescription) is not a field of a replay; known: "
                    + Self.known.sorted().joined(separator: ", ") + ".")
        }
        func text(_ name: String) throws(Problem) -> String? {
            switch fields[name] {
            case nil, .null?: return nil
            case .string(let text)?: return text
            // A time as a number is ms since 1970.
            case .number(let number)? where name == "until" || name == "since":
                return Date(timeIntervalSince1970: number / 1000)
                    .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            default: throw Problem(.badBody, "\(name) is no text.")
            }
        }
        func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
            guard let value = fields[name], value != .null else { return nil }
            guard case .number(let number) = value, let whole = Int(exactly: number),
                range.contains(whole)
            else {
                throw Problem(
                    .badBody,
                    "\(name) is \(value.canonical); expected a whole number from \(range.lowerBound) to "
                        + "\(range.upperBound).")
            }
            return whole
        }
        filter.batch = try text("batch")
        filter.tenant = try text("tenant")
        filter.since = try text("since")
        filter.until = try text("until")
        filter.edit = try text("edit")
        if case .array(let codes)? = fields["codes"] {
            filter.codes = try codes.map { code throws(Problem) in
                guard case .string(let text) = code else {
                    throw Problem(.badBody, "codes has \(code.kind); expected texts.")
                }
                return text
            }
        } else if let codes = fields["codes"], codes != .null {
            throw Problem(.badBody, "codes is \(codes.kind); expected an array of texts.")
        }
        rate = try number("rate", 1...Self.rateMax)
        expected = try number("expected", 0...Int(1e12))
        switch fields["dryRun"] {
        case nil, .bool(false)?: isDryRun = false
        case .bool(true)?: isDryRun = true
        default: throw Problem(.badBody, "dryRun is neither true nor false.")
        }
        withEdit = try fields["withEdit"].flatMap {
            $0 == .null ? nil : try Edit(json: $0.canonical)
        }
    }
}
