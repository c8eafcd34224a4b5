import Redis

extension JobQueue {
    /// The factor by which a structure may exceed its limit before a warning: streams are trimmed by whole nodes, names in
    /// steps.
    private static let slack = 2

    /// Returns conditions that are valid but may have a cost: settings of the server, structures that grow, absent workers.
    func warnings() async throws(QueueError) -> [String] {
        var warnings: [String] = []
        do {
            warnings = try await checkServer()
        } catch {
            guard error.code == .unsafeServer else { throw error }
            warnings.append(error.message)
        }
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
        if let warning = try await idleWarning() { warnings.append(warning) }
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
        let beats = Heartbeat.beatsPerLease * settings.lease.milliseconds
        let now = try await now()
        let workers = try await send([
            "ZCOUNT", RedisArgument(name.keys.workers), RedisArgument("\(now - beats)"),
            RedisArgument("\(now + beats)"),
        ])
        guard workers.int == 0 else { return nil }
        var waiting = 0
        for (command, structure) in [
            ("XLEN", "in:interactive"), ("XLEN", "in"), ("ZCARD", "lanes"), ("ZCARD", "lease"),
        ] {
            waiting += try await size(command, structure)
        }
        for priority in ["interactive", "normal", "bulk", "alone"] {
            waiting += try await size("ZCARD", "flows:\(priority)")
        }
        return waiting == 0
            ? nil
            : "jobs are waiting, but no worker has sent a heartbeat lately. Start one: minilab worker."
    }

    private func size(_ command: String, _ structure: String) async throws(QueueError) -> Int {
        let reply = try await send([
            RedisArgument(command), RedisArgument("\(name.keys.prefix)\(structure)"),
        ])
        guard let size = reply.int else {
            throw QueueError(.unexpectedReply, "\(command) of \(structure) answered \(reply).")
        }
        return Int(size)
    }
}
