import AccessKeys
import Edits
import FoundationEssentials
import JobQueue
import Operations

/// The steps of a replay, shared by the API and the page.
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
        let queue = call.parts.queue
        let tally = try await call.parts.permits.costly(of: key) { [filter] in
            try await DeadTally(filter, on: queue)
        }
        let jobs = tally.sample.compactMap { key.view.view($0) }
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
            startedAt: call.now, expected: tally.count)
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
        try await call.parts.audit.note(
            "replay", "\(order.id): \(preview.count) jobs", by: call.doer)
    }

    private static func about(_ count: Int, rate: Int?, _ queue: JobQueue) async throws -> Int? {
        let status = try await queue.status()
        let slots = status.workers.reduce(0) { $0 + $1.slots }
        guard slots > 0, let cost = try await queue.meanCost() else { return nil }
        let work = Double(count) * cost / 1000 / Double(slots)
        return Int(max(work, rate.map { Double(count) / Double($0) } ?? 0).rounded(.up))
    }
}
