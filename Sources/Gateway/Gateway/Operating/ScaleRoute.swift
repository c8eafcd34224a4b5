import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

/// The route that tells an autoscaler how many workers should run.
enum ScaleRoute {
    static let routes: [Route] = [
        Route(
            .get, "/v1/scale", .operatorKey(.operate), name: "scale", group: "operating",
            "How much work waits, in seconds of a slot, and how many workers it asks for.",
            parameters: [
                .query(
                    "within", "The work is to be done within so many seconds.",
                    schema: .integer(ScaleTarget.withinRange)),
                .query(
                    "min", "Workers at least.", schema: .integer(0...ScaleTarget.workersMax)),
                .query(
                    "max", "Workers at most.", schema: .integer(1...ScaleTarget.workersMax)),
                .query(
                    "slots", "Slots of a worker, used while no worker runs that reports its slots.",
                    schema: .integer(1...ScaleTarget.slotsMax)),
            ], answers: [.init(.ok, "The advice.", .schema("ScaleAdvice"))]
        ) { call in
            try .json(try await call.parts.views.scaling.advice(try target(call)))
        }
    ]

    private static func target(_ call: Call) throws -> ScaleTarget {
        var target = ScaleTarget()
        target.within = try call.number("within", in: ScaleTarget.withinRange) ?? target.within
        target.minWorkers =
            try call.number("min", in: 0...ScaleTarget.workersMax) ?? target.minWorkers
        target.maxWorkers =
            try call.number("max", in: 1...ScaleTarget.workersMax)
            ?? max(target.maxWorkers, target.minWorkers)
        target.slots = try call.number("slots", in: 1...ScaleTarget.slotsMax) ?? target.slots
        guard target.minWorkers <= target.maxWorkers else {
            throw Problem(
                .badParameter,
                "min is \(target.minWorkers) and max is \(target.maxWorkers); expected min up to max."
            )
        }
        return target
    }
}
