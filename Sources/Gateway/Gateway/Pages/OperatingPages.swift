import AccessKeys
import Edits
import Dashboard
import Hummingbird
import JobQueue
import Operations

enum OperatingPages {
    static let routes: [Route] = [
        Route(.get, Links.limits, .operatorPage(.operate), "Pause, and the tenants' limits.") {
            call in .page(try await limits(call))
        },
        Route(.post, Links.limits, .operatorPage(.operate), "Sets a limit.", handle: setLimits),
        Route(.get, Links.doctor, .operatorPage(.admin), "Whether the queue is as it must be.") {
            call in
            .page(
                DoctorPage(
                    call.frame(), try await call.parts.queue.diagnose(as: .gateway, repair: false)))
        },
        Route(.post, Links.doctor, .operatorPage(.admin), "Mends what can be mended.") { call in
            _ = try await call.form()
            return .page(DoctorPage(call.frame(), try await OperatingRoutes.repair(call)))
        },
        Route(
            .get, Links.audit, .operatorPage(.admin), "The recorded changes and their authors.",
            handle: audit),
    ]

    private static let actionsMax = 100
    /// The most tenants that the page of limits shows.
    private static let tenantsMax = 200

    private static func limits(_ call: Call) async throws -> LimitsPage {
        let snapshot = try await call.parts.views.snapshots.current()
        let rules = try await call.parts.queue.tenantRules()
        let ready = Dictionary(
            snapshot.status.flows.map { ($0.tenant, $0.ready) }, uniquingKeysWith: +)
        let running = try await call.parts.queue.runningByTenant()
        // Those with limits of their own first: nobody looks for the others here.
        let others = Set(ready.keys).union(running.keys).subtracting(rules.keys)
        let all = rules.keys.sorted() + others.sorted()
        let tenants = all.prefix(tenantsMax)
        return LimitsPage(
            call.frame(), paused: snapshot.status.paused,
            tenants: tenants.enumerated().map { number, tenant in
                TenantRow(
                    number: number, tenant: tenant, cap: rules[tenant]?.cap,
                    weight: rules[tenant]?.weight, ready: ready[tenant] ?? 0,
                    running: running[tenant] ?? 0)
            }, moreTenants: all.count - tenants.count)
    }

    private static func setLimits(_ call: Call) async throws -> Response {
        let form = try await call.form()
        switch form["action"] {
        case "pause":
            let reason = String((form["reason"] ?? "paused by an operator").prefix(200))
            try await call.set([.paused(reason)], noting: "pause", reason)
            return Call.seeOther(Links.limits, .paused)
        case "resume":
            try await call.set([.paused(nil)], noting: "resume", "")
            return Call.seeOther(Links.limits, .resumed)
        case "tenant":
            let tenant = try JobID(form["tenant"] ?? "")
            let cap = try number(form["cap"], "cap", from: 0)
            let weight = try number(form["weight"], "weight", from: 1)
            try await call.set(
                [.cap(tenant, cap), .weight(tenant, weight)], noting: "limitTenant",
                "\(tenant): cap \(cap.map { "\($0)" } ?? "none"), weight \(weight ?? 1)")
            return Call.seeOther(Links.limits, .limited)
        default: throw Problem(.badParameter, "The form requests no known action.")
        }
    }

    private static func number(
        _ text: String?, _ name: String, from least: Int
    ) throws(Problem) -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), (least...QueueRule.numberMax).contains(number) else {
            throw Problem(
                .badParameter,
                "\(name) is \(String(text.prefix(80)).debugDescription); expected \(least) to \(QueueRule.numberMax), or nothing."
            )
        }
        return number
    }

    private static func audit(_ call: Call) async throws -> Response {
        let who = call.formQuery("who")
        let tenant = call.formQuery("tenant")
        // Its name becomes a part of a key.
        if let tenant { _ = try JobID(tenant) }
        var position: StreamID?
        if let text = call.query("after") {
            guard let found = StreamID(text) else {
                throw Problem(.badParameter, "after is no cursor that this gateway gave.")
            }
            position = found
        }
        let entries = try await call.parts.audit.page(
            of: tenant, before: position, count: actionsMax)
        let shown = entries.filter { entry in
            who.map { [entry.key, entry.label, entry.person].contains($0) } ?? true
        }
        return .page(
            AuditPage(
                call.frame(), who: who, tenant: tenant,
                rows: shown.map { entry in
                    AuditRow(
                        at: Moment(entry.at, now: call.now),
                        who: entry.who, action: entry.action,
                        subject: entry.detail.isEmpty ? nil : entry.detail, count: nil)
                }, next: entries.count < actionsMax ? nil : entries.last?.id))
    }
}
