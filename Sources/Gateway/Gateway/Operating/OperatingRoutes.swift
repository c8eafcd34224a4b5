import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

/// The operator's routes: the queue, its workers, pause, limits, doctor.
enum OperatingRoutes {
    static let routes: [Route] = [
        Route(
            .get, "/v1/queue", .operatorKey(.operate), name: "readQueue", group: "operating",
            "The number of jobs by state and tenant, and the counts of past events.",
            answers: [.init(.ok, "The queue at this moment.", .schema("Queue"))]
        ) { call in
            let queue = call.parts.queue
            return try .json(try await QueueSnapshot(queue, after: nil))
        },
        Route(
            .get, "/v1/workers", .operatorKey(.operate), name: "listWorkers", group: "operating",
            "Workers with a recent heartbeat.",
            answers: [
                .init(
                    .ok, "The workers.",
                    .fields(["workers": .list(.schema("Worker"))]))
            ]
        ) { call in try .json(["workers": try await call.parts.queue.workers()]) },
        Route(
            .put, "/v1/pause", .operatorKey(.operate), name: "pause", group: "operating",
            "Pauses the queue: workers start no more jobs, and running jobs are finished.",
            body: .optionalJSON(.schema("Reason")),
            answers: [.init(.ok, "It is paused.", .schema("Reason"))]
        ) { call in
            let reason = try ReasonBody(
                try await call.optionalJSON(), usual: "paused by an operator"
            ).reason
            try await call.set([.paused(reason)], noting: "pause", reason)
            return .json(.object(["reason": .string(reason)]))
        },
        Route(
            .delete, "/v1/pause", .operatorKey(.operate), name: "resume", group: "operating",
            "Takes a pause back.", answers: [.empty(.noContent, "Workers begin jobs again.")]
        ) { call in
            try await call.set([.paused(nil)], noting: "resume", "")
            return Response(status: .noContent)
        },
        Route(
            .put, "/v1/tenants/{tenant}/limits", .operatorKey(.operate), name: "limitTenant",
            group: "operating",
            "Sets the number of jobs of a tenant that may run at a time, and its share among the tenants.",
            parameters: [.path("tenant", "The tenant.", schema: .schema("ID"))],
            body: .json(.schema("Limits")),
            answers: [.init(.ok, "The limits that were set.", .schema("Limits"))]
        ) { call in
            let tenant = try call.name("tenant")
            let limits = try LimitsBody(try await call.json())
            try await call.set(
                limits.rules(of: tenant), noting: "limitTenant",
                "\(tenant): \(limits.json.canonical)")
            return .json(limits.json)
        },
        Route(
            .get, "/v1/doctor", .operatorKey(.admin), name: "diagnose", group: "operating",
            "Checks the consistency of the queue, without repairs.",
            answers: [.init(.ok, "The findings.", .schema("Diagnosis"))]
        ) { call in try .json(try await call.parts.queue.diagnose(as: .gateway, repair: false)) },
        Route(
            .post, "/v1/doctor", .operatorKey(.admin), name: "repair", group: "operating",
            "Makes the repairs that neither lose a job nor run one twice.",
            answers: [.init(.ok, "The findings, with repairs.", .schema("Diagnosis"))]
        ) { call in try .json(try await repair(call)) },
    ]

    /// Makes the repairs that are possible, for the API and the page.
    ///
    /// - Throws: `notPermitted` if the gateway's Redis user lacks a command that a repair needs.
    static func repair(_ call: Call) async throws -> Diagnosis {
        let diagnosis: Diagnosis
        do throws(QueueError) {
            diagnosis = try await call.parts.queue.diagnose(as: .gateway, repair: true)
        } catch {
            guard error.isNotPermitted else { throw error }
            throw Problem(
                .notPermitted,
                "The gateway's user of Redis may check and not repair. Have the operator run minilab doctor --repair."
            )
        }
        try await call.note("repair", counted(diagnosis.mended.count, "finding"))
        return diagnosis
    }
}

extension Call {
    /// Sets rules of the queue, for the API and the pages.
    func set(_ rules: [QueueRule], noting action: String, _ detail: String) async throws {
        try await parts.queue.set(rules)
        await parts.views.snapshots.invalidate()
        try await note(action, detail)
    }
}

/// The body that sets a tenant's cap and weight. Null removes a limit; a missing field leaves it unchanged.
struct LimitsBody {
    let json: JSONValue
    private let cap: Int??
    private let weight: Int??

    init(_ json: JSONValue) throws(Problem) {
        guard case .object(let fields) = json, !fields.isEmpty,
            Set(fields.keys).isSubset(of: ["cap", "weight"])
        else { throw Problem(.badBody, #"The body is no {"cap": …, "weight": …}."#) }
        self.json = json
        cap = try Self.number("cap", fields, from: 0)
        weight = try Self.number("weight", fields, from: 1)
    }

    func rules(of tenant: JobID) -> [QueueRule] {
        var rules: [QueueRule] = []
        if let cap { rules.append(.cap(tenant, cap)) }
        if let weight { rules.append(.weight(tenant, weight)) }
        return rules
    }

    private static func number(
        _ name: String, _ fields: [String: JSONValue], from least: Int
    ) throws(Problem) -> Int?? {
        guard let value = fields[name] else { return nil }
        let whole = value.whole(in: least...QueueRule.numberMax)
        guard whole != nil || value == .null else {
            throw Problem(
                .badBody,
                "\(name) is \(value.canonical); expected null or a whole number from \(least) to "
                    + "\(QueueRule.numberMax).")
        }
        return .some(whole)
    }
}
