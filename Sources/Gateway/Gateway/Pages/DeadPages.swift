import AccessKeys
import Edits
import Dashboard
import Hummingbird
import JobQueue
import Operations

enum DeadPages {
    static let routes: [Route] = [
        Route(.get, Links.dead, .page(.operate), "Dead jobs, by cause.") { call in
            .page(try await dead(call))
        },
        Route(.get, Links.replayPreview, .page(.operate), "What a replay would do.") { call in
            .page(try await preview(call))
        },
        Route(.post, Links.replayPreview, .page(.operate), "Starts a replay.", handle: start),
        Route(.get, "/replays/{id}", .page(.operate), "How far a replay is.") { call in
            .page(progress(try await ReplayRoutes.find(call), call))
        },
        Route(.post, "/replays/{id}/stop", .page(.operate), "Stops a replay.") { call in
            _ = try await call.form()
            let order = try await ReplayRoutes.find(call)
            _ = try await call.parts.replays.stop(order.id, at: call.now)
            try await call.note("stopReplay", order.id)
            return Call.seeOther(Links.replay(order.id), .replayStopped)
        },
        Route(
            .post, "/replays/{id}/continue", .page(.operate),
            "Continues a replay of which some of the first jobs failed."
        ) { call in
            _ = try await call.form()
            return Call.seeOther(
                Links.replay(try await ReplayRoutes.goOn(call).id), .replayStarted)
        },
    ]

    private static let listedMax = 50

    private static func dead(_ call: Call) async throws -> DeadPage {
        let groups = try await DeadRoutes.groups(call)
        var list: DeadPage.List?
        if call.query("list") != nil {
            let page = try await DeadRoutes.page(call, count: listedMax)
            list = DeadPage.List(
                selection(call), jobs: page.jobs.map { JobRow($0, now: call.now) }, next: page.next)
        }
        return DeadPage(
            call.frame(),
            total: groups.groups.reduce(groups.others ?? 0) { $0 + $1.jobs },
            groups: groups.groups.prefix(listedMax).map { group in
                DeadGroupRow(
                    code: group.code, tenant: group.tenant, edit: nil, editText: group.edit,
                    count: group.jobs, first: Moment(group.first, now: call.now),
                    last: Moment(group.last, now: call.now))
            }, left: max(0, groups.groups.count - listedMax), list: list)
    }

    /// Returns the conditions of the query, which the page passes on in its links.
    private static func selection(_ call: Call, until: Int? = nil) -> DeadSelection {
        DeadSelection(
            tenant: call.caller?.tenant?.string ?? call.query("tenant"), code: call.query("code"),
            edit: call.query("edit"), batch: call.query("batch"), since: call.query("since"),
            until: until.map(date) ?? call.query("until"))
    }

    private static func body(_ value: (String) -> String?) throws -> ReplayBody {
        var fields: [String: JSONValue] = [:]
        for name in ["batch", "tenant", "since", "until", "edit"] {
            if let text = value(name) { fields[name] = .string(text) }
        }
        if let code = value("code") { fields["codes"] = .array([.string(code)]) }
        for name in ["rate", "expected", "first"] {
            if let text = value(name) {
                guard let number = Double(text) else {
                    throw Problem(
                        .badParameter, "\(name) is \(text.debugDescription); expected a number.")
                }
                fields[name] = .number(number)
            }
        }
        return try ReplayBody(.object(fields))
    }

    private static func preview(_ call: Call) async throws -> ReplayPreviewPage {
        let body = try body { call.query($0) }
        let (_, preview) = try await ReplayPlan.make(body, call)
        // The form has whole seconds. They are rounded up, so that the selection includes all jobs that were counted.
        let until = (preview.until + 999) / 1000 * 1000
        return ReplayPreviewPage(
            call.frame(), selection: selection(call, until: until), until: Moment(until),
            expected: preview.count,
            counts: preview.codes.sorted { $0.value > $1.value }.map {
                Fact($0.key, "\($0.value)")
            },
            rate: body.rate, cost: nil, eta: preview.aboutSeconds.map { "about \(clock($0))" },
            sample: preview.jobs.map { JobRow($0, now: call.now) })
    }

    private static func start(_ call: Call) async throws -> Response {
        let form = try await call.form()
        let body = try body { form[$0] }
        let (order, preview) = try await ReplayPlan.make(body, call)
        try await ReplayPlan.start(order, preview, expected: body.expected, call)
        return Call.seeOther(Links.replay(order.id), .replayStarted)
    }

    static func progress(_ order: ReplayOrder, _ call: Call) -> ReplayPage {
        ReplayPage(
            call.frame(), id: order.id,
            selection: DeadSelection(
                tenant: order.tenant, code: order.codes.first, edit: order.edit, batch: order.batch,
                since: order.since.map(date), until: date(order.until)),
            by: order.by, started: Moment(order.startedAt, now: call.now),
            phase: phase(order.state), replayed: order.replayed, refused: order.refused,
            total: order.expected, rate: order.rate, trial: order.trial?.text,
            message: order.message)
    }

    private static func phase(_ state: ReplayOrder.State) -> ReplayPage.Phase {
        switch state {
        case .running: .running
        case .trying: .trying
        case .held: .held
        case .stopped: .stopped
        case .done: .finished
        case .failed: .failed
        }
    }
}
