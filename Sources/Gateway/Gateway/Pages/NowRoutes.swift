import AccessKeys
import Dashboard
import Hummingbird
import JobQueue
import Operations

enum NowRoutes {
    static let routes: [Route] = [
        Route(.get, Links.now, .operatorPage(.operate), "Now: is all well, and what runs.") {
            call in .page(try await now(call))
        },
        Route(.get, Links.find, .page(.read), "Find: a job, a batch, an asset, a tenant, a code.") {
            call in .page(try await Finder(call).page())
        },
    ]

    static func now(_ call: Call) async throws -> NowPage {
        let history = call.parts.views.history
        return NowPage(
            call.frame(), snapshot: try await call.parts.views.snapshots.current(),
            sparks: [
                Spark(
                    "Jobs a second",
                    history.rates(of: [
                        "completed", "drafted", "rendered", "unchanged", "superseded",
                    ]),
                    unit: "jobs/s"),
                Spark(
                    "Failures a second", history.rates(of: ["failed"]), unit: "jobs/s",
                    isTrouble: true),
            ],
            shares: try await call.parts.views.snapshots.shares().mapValues {
                FlowBar.Share(had: $0.had, due: $0.due)
            }, now: call.now)
    }
}
