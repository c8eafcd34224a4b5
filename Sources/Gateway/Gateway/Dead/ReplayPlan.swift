import AccessKeys
import Edits
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

enum ReplayPlan {
    static func make(
        _ body: ReplayBody, _ call: Call
    ) async throws -> (ReplayOrder, ReplayPreview) {
        let key = try call.key
        var filter = try await DeadRoutes.filter(body.filter, call)
        // A job that dies after this moment, by the queue's clock, is not part of this replay.
        let last = try await call.parts.queue.lastDeath()
        let until = min(filter.until ?? last, last)
        filter.until = until
        if let edit = body.withEdit { try EditBorder(key).check(edit) }
        let tally = try await DeadRoutes.tally(filter, call)
        let jobs = tally.sample.compactMap { key.view.view($0) }
        let preview = ReplayPreview(
            count: tally.count, isComplete: tally.isComplete, codes: tally.codes, until: until,
            aboutSeconds: try await about(tally.count, rate: body.rate, call),
            sample: jobs.map { record in
                .init(
                    job: record.job, asset: record.asset, code: record.code?.rawValue,
                    message: record.message)
            }, jobs: jobs)
        let order = ReplayOrder(
            id: ReplayOrder.newID(), filter, until: until, withEdit: body.withEdit, rate: body.rate,
            by: key.id,
            startedAt: call.now, expected: tally.count,
            trial: body.first.map { ReplayTrial(first: $0, stopAtPercent: body.stopAtPercent) })
        return (order, preview)
    }

    /// - Parameter expected: the number of jobs that the caller saw in a preview; nil if the caller requested none.
    static func start(
        _ order: ReplayOrder, _ preview: ReplayPreview, expected: Int?, _ call: Call
    ) async throws {
        if let expected, expected != preview.count {
            throw Problem(
                .countChanged,
                "The filter means \(counted(preview.count, "job")) now, and \(expected) were expected: some were replayed, dropped or have "
                    + "changed. Request another preview.",
                facts: ["count": .number(Double(preview.count))])
        }
        try await call.parts.replays.add(order, by: try call.key.tenant?.string)
        try await call.note(
            "replay",
            "\(order.id): \(preview.count) jobs"
                + (order.trial.map { ", the first \($0.first) tried before" } ?? ""))
    }

    private static func about(_ count: Int, rate: Int?, _ call: Call) async throws -> Int? {
        let slots = try await call.parts.views.fleet.slots()
        guard slots > 0, let cost = try await call.parts.queue.meanCost() else { return nil }
        let work = Double(count) * cost / 1000 / Double(slots)
        return Int(max(work, rate.map { Double(count) / Double($0) } ?? 0).rounded(.up))
    }
}

struct ReplayPreview: Encodable {
    let count: Int
    let isComplete: Bool
    let codes: [String: Int]
    /// The replay covers jobs that died up to this moment, in ms since 1970. Send it with the replay.
    let until: Int
    /// The estimated duration of the replay on all workers together, in seconds.
    let aboutSeconds: Int?
    let sample: [Sample]
    /// The records of the jobs in ``sample``.
    let jobs: [JobRecord]

    private enum CodingKeys: CodingKey {
        case count, isComplete, codes, until, aboutSeconds, sample
    }

    struct Sample: Encodable {
        let job: String
        let asset: String
        let code: String?
        let message: String?
    }
}

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
                    .fields(["replays": .list(.schema("ReplayOrder"))]))
            ]
        ) { call in
            let key = try call.key
            let orders = try await call.parts.replays.list { decode in
                try await call.parts.permits.reading(of: key) { decode() }
            }
            return try .json(["replays": orders.filter { $0.isWithin(key.reach) }])
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
            try await call.note("stopReplay", stopped.id)
            return try .json(stopped)
        },
        Route(
            .post, "/v1/replays/{id}/continue", .key(.operate), name: "continueReplay",
            group: "dead",
            "Continues a held replay with its remaining jobs, after some of the first failed.",
            parameters: [.path("id", "The replay.")],
            answers: [.init(.ok, "The replay.", .schema("ReplayOrder"))], problems: [.conflict]
        ) { call in try .json(try await goOn(call)) },
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

    /// Continues the held replay that the path names.
    ///
    /// - Throws: `conflict` if it is not held.
    static func goOn(_ call: Call) async throws -> ReplayOrder {
        let order = try await find(call)
        guard let after = try await call.parts.replays.goOn(order.id, by: call.key.id) else {
            throw unknown(order.id)
        }
        guard order.state == .held, after.state == .running else {
            throw Problem(
                .conflict,
                "Replay \(order.id) is not held but \(after.state.rawValue): there is nothing to continue."
            )
        }
        try await call.note("continueReplay", after.id)
        return after
    }

    private static func unknown(_ id: String) -> Problem {
        Problem(.notFound, "There is no replay \(String(id.prefix(80)).debugDescription).")
    }
}

struct ReplayBody {
    var filter = DeadFilterText()
    let rate: Int?
    let withEdit: Edit?
    let isDryRun: Bool
    let expected: Int?
    /// The number of jobs that are tried before the others; nil for no trial.
    let first: Int?
    let stopAtPercent: Int?

    static let rateMax = 1_000_000
    /// Times as numbers, in ms since 1970, up to the year 9999.
    private static let times = 0...253_402_300_799_999
    private static let known: Set<String> = [
        "batch", "tenant", "codes", "since", "until", "edit", "rate", "withEdit", "dryRun",
        "expected", "first", "stopAtPercent",
    ]

    /// - Throws: `badBody`; the fault of the edit.
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
                guard let whole = Int(exactly: number), Self.times.contains(whole) else {
                    throw Problem(
                        .badBody,
                        "\(name) is \(number); expected a whole number of ms since 1970, or a text."
                    )
                }
                return Date(timeIntervalSince1970: number / 1000)
                    .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            default: throw Problem(.badBody, "\(name) is no text.")
            }
        }
        func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
            guard let value = fields[name], value != .null else { return nil }
            guard let whole = value.whole(in: range) else {
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
        first = try number("first", 1...ReplayTrial.firstMax)
        stopAtPercent = try number("stopAtPercent", 1...100)
        guard first != nil || stopAtPercent == nil else {
            throw Problem(
                .badBody,
                "stopAtPercent is given without first, the number of jobs to try before the others."
            )
        }
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
