public import Edits
import FoundationEssentials
import Redis

extension JobQueue {
    /// The factor by which a structure may exceed its limit before a warning: streams are trimmed by whole nodes, names in
    /// steps.
    private static let slack = 2

    /// Returns conditions that are valid but may have a cost: structures that grow, absent workers.
    func warnings() async throws(QueueError) -> [String] {
        var warnings: [String] = []
        for (command, structure, limit) in [
            ("XLEN", "events", settings.eventsMax), ("XLEN", "control", 1000),
            ("LLEN", "done", settings.doneRecordsMax), ("LLEN", "malformed", settings.malformedMax),
            ("HLEN", "seen:new", settings.seenMax / 2), ("HLEN", "seen:old", settings.seenMax / 2),
            ("ZCARD", "batches:ended", settings.batchesMax),
        ] {
            let size = try await size(command, structure)
            if size > limit * Self.slack {
                warnings.append(
                    "\(structure) has \(size) entries; its limit is \(limit). Do all workers run, and "
                        + "with the same settings?")
            }
        }
        warnings += try await harmWarnings()
        if let warning = try await clockWarning() { warnings.append(warning) }
        warnings += try await libraryWarnings()
        warnings += try await lossWarnings()
        if let warning = try await idleWarning() { warnings.append(warning) }
        let fleet = try await fleet()
        warnings += Self.differences(of: fleet.living)
        warnings += try await sharedNameWarnings()
        warnings += fleet.unreadable.sorted { $0.key < $1.key }.map { worker, reason in
            "the report of worker \(worker) cannot be read: \(reason). It counts by its name alone, with one slot. Its next "
                + "heartbeat writes the report anew; if that stays unreadable, the worker is of another release."
        }
        if let hold = try await ingressHold() { warnings.append(hold.sentence) }
        return warnings
    }

    /// The lead of the queue's time over the clock that needs no warning, in ms: ids of producers may be that far ahead.
    private static let lagMax = 15_000

    private func clockWarning() async throws(QueueError) -> String? {
        let lag = try await lag()
        guard lag > Self.lagMax else { return nil }
        return
            "the clock of the Redis server is \(lag / 1000) s behind times that it gave before: it was set back, or another "
            + "server has taken over. The queue goes on; edits are in their order. Check the clock (NTP): jobs that wait "
            + "for their notBefore, and deadlines, follow it."
    }

    private func idleWarning() async throws(QueueError) -> String? {
        let fleet = try await fleet()
        guard fleet.living.isEmpty else { return nil }
        let due = try await overdue()
        // Leases that ran out are among those that are counted below.
        // An open batch whose jobs have all left its stream, or that has none yet, waits for its producer.
        var waiting = try await due.delayed + (census().jobs[.lane] ?? 0)
        for (command, structure) in [
            ("XLEN", "in:interactive"), ("XLEN", "in"), ("ZCARD", "lease"),
        ] {
            waiting += try await size(command, structure)
        }
        for priority in Self.priorities {
            waiting += try await size("ZCARD", "flows:\(priority)")
        }
        guard waiting > 0 else { return nil }
        return
            "jobs are waiting\(due.sentence.map { " (\($0))" } ?? ""), but no worker has sent a heartbeat lately"
            + (fleet.silent.isEmpty
                ? "" : "; the last ones were \(Self.names(of: fleet.silent))")
            + ". Start one: minilab worker."
    }

    /// The ratio of two budgets of memory from which on the smaller worker leaves jobs to others that are not rare.
    private static let budgetRatio = 2

    /// The leases for which a name that two workers had is told after the last sign of it.
    private static let sharedNameLeases = 10

    private func sharedNameWarnings() async throws(QueueError) -> [String] {
        let signs = try await send("HGETALL", name.keys.sharedNames).pairs ?? [:]
        let since = try await now() - Self.sharedNameLeases * settings.lease.milliseconds
        let names = signs.filter { Int($0.value.split(separator: " ").last ?? "") ?? 0 > since }
            .keys.sorted()
        return names.prefix(Self.silentNamedMax).map {
            "more than one living worker has the name \($0): each overwrites the report of the other, so one that stops or "
                + "crashes may go unnoticed. Give each worker a name of its own (--worker-name), and start them again."
        }
    }

    /// Returns what workers of one queue differ in, so that some cannot do what others can. The queue works nevertheless: jobs are left
    /// to those that can. Two machines of different size are an ordinary fleet.
    static func differences(of workers: [WorkerInfo]) -> [String] {
        var warnings: [String] = []
        let known = workers.filter { $0.machine != nil }
        for name in Set(known.flatMap { $0.machine?.keys.map { $0 } ?? [] }).sorted() {
            let values = Dictionary(grouping: known) { $0.machine?[name] ?? "as usual" }
            guard values.count > 1 else { continue }
            let groups = values.sorted { ($0.value.count, $0.key) < ($1.value.count, $1.key) }
            warnings.append(
                "workers differ in \(name): "
                    + groups.map { "\($0.key) at \(Self.some($0.value.map(\.name)))" }
                    .joined(separator: "; ")
                    + ". What one cannot do is left to the others, which costs each such job a try; give all of them the same."
            )
        }
        let budgets = workers.compactMap { worker in
            worker.memory.map { (name: worker.name, bytes: $0.budgetBytes) }
        }.sorted { ($0.bytes, $0.name) < ($1.bytes, $1.name) }
        if let least = budgets.first, let most = budgets.last,
            most.bytes / budgetRatio > least.bytes
        {
            warnings.append(
                "workers differ in memory: \(least.name) may use \(least.bytes / 1_000_000) MB, and \(most.name) "
                    + "\(most.bytes / 1_000_000) MB. Photos that need more than the smaller one has are left to the larger ones."
            )
        }
        return warnings
    }

    private static func some(_ names: [String]) -> String {
        names.sorted().prefix(silentNamedMax).joined(separator: ", ")
            + (names.count > silentNamedMax ? " and \(names.count - silentNamedMax) more" : "")
    }

    /// The most workers that are named in a sentence.
    private static let silentNamedMax = 5

    private static func names(of silent: [SilentWorker]) -> String {
        let last = silent.sorted { $0.since ?? 0 > $1.since ?? 0 }
        return last.prefix(silentNamedMax).map(\.name).joined(separator: ", ")
            + (last.count > silentNamedMax ? " and \(last.count - silentNamedMax) more" : "")
    }

    private func size(_ command: String, _ structure: String) async throws(QueueError) -> Int {
        let reply = try await send(command, "\(name.keys.prefix)\(structure)")
        guard let size = reply.int else {
            throw QueueError(.unexpectedReply, "\(command) of \(structure) answered \(reply).")
        }
        return Int(size)
    }

    /// The time for which harm to an ingress stream is reported: while an operator may still search for a lost job.
    private static let harmReportedFor: Duration = .seconds(7 * 86400)

    /// Returns the harm that producers did to the ingress streams. An XADD can do such harm, and no ACL forbids it.
    func harmWarnings() async throws(QueueError) -> [String] {
        try await harmWarnings(of: "the ingress stream", "ingress")
            + harmWarnings(of: "the ingress stream in:interactive", "ingress:interactive")
    }

    private func harmWarnings(
        of stream: String, _ key: String
    ) async throws(QueueError) -> [String] {
        let facts = try await send("HGETALL", name.keys.prefix + key).pairs ?? [:]
        let since = try await now() - Self.harmReportedFor.milliseconds
        func lately(_ count: String, _ time: String) -> (count: String, at: String)? {
            guard let count = facts[count], let at = facts[time].flatMap({ Int($0) }), at > since
            else { return nil }
            let date = Date(timeIntervalSince1970: Double(at) / 1000)
            return (count, date.formatted(.iso8601))
        }
        var warnings: [String] = []
        if let lost = lately("lost", "lostAt") {
            warnings.append(
                "\(lost.count) entries of \(stream) were dropped before a worker read them, the last at \(lost.at): "
                    + "a producer sends XTRIM, or XADD with MAXLEN or MINID. Find the producer (ops/RUNBOOK.md). "
                    + "Send the jobs again for which no event reported an end."
            )
        }
        if let renewed = lately("renewals", "renewedAt") {
            warnings.append(
                "\(stream) was ended \(renewed.count) times by an id in the far future, the last at "
                    + "\(renewed.at), and repaired: a producer sends XADD with an id instead of *. Find the "
                    + "producer (ops/RUNBOOK.md).")
        }
        return warnings
    }

    /// Asks the server for a user that may look and not repair, as `gateway`; nil if this one may not look either.
    private func askToLook() async throws(QueueError) -> ServerVerdict? {
        var verdict = try await askServer(as: .gateway)
        guard verdict.runsScripts else { return nil }
        verdict.warnings.append(
            "user \(redis.user) may look at the queue, and neither repair it nor do all else that the commands of minilab do: give "
                + "them the user operator of ops/redis-users.conf.")
        return verdict
    }

    /// The maximum number of walks of a repair: the first repairs may reveal further faults.
    static let repairWalksMax = 3

    /// Checks whether the queue's data in Redis is consistent, while workers continue to run.
    ///
    /// Walks see a queue that changes, so they only name candidates. A finding is a candidate that a script, which runs alone,
    /// confirms. No call inspects more than some hundred ids.
    ///
    /// - Parameters:
    ///   - program: Whose scripts the server is asked about.
    ///   - repair: Whether to repair what can be repaired without the loss or repetition of a job. A last walk then reports the
    ///     remaining faults as `open`.
    /// - Throws: `unsafeServer` if the server does not run the scripts. If it may lose jobs, that is the first of the faults.
    public func diagnose(
        as program: QueueProgram = .operator, repair: Bool = false
    ) async throws(QueueError) -> Diagnosis {
        var server = try await askServer(as: program)
        if !server.runsScripts, !repair, program == .operator,
            let looking = try await askToLook()
        {
            server = looking
        }
        guard server.runsScripts else {
            throw QueueError(.unsafeServer, server.refusals.joined(separator: " "))
        }
        var mended: [Finding] = []
        for _ in 0..<Self.repairWalksMax where repair {
            let walk = try await DoctorWalk(queue: self, repair: true)
            let found = try await walk.run().mended
            mended += found.prefix(Diagnosis.findingsMax - mended.count)
            if found.isEmpty { break }
        }
        let walk = try await DoctorWalk(queue: self, repair: false)
        var diagnosis = try await walk.run()
        diagnosis.mended = mended
        diagnosis.open.insert(contentsOf: server.refusals.map(Finding.init(unsafe:)), at: 0)
        diagnosis.warnings += server.warnings
        diagnosis.warnings += try await warnings()
        return diagnosis
    }
}
