import Redis

/// Why a worker has to stop what it does for a job.
public enum HoldEnd: Sendable {
    /// Somebody else has the job, or it has ended: nothing more may be written to it.
    case lost
    /// Nobody wants it any more: it is still ours, and we end it.
    case cancelled
}

/// One job in a heartbeat.
struct Beat {
    let hold: HoldID
    var stage: String?
    var progress: JobProgress?
}

extension JobQueue {
    /// Renews leases and confirms claims; one answer per job, in order.
    func beat(
        _ beats: [Beat], by worker: WorkerInfo
    ) async throws(QueueError) -> [Standing] {
        var arguments = [
            RedisArgument(settings.lease.milliseconds), RedisArgument(worker.name),
            RedisArgument(json(worker)),
        ]
        for beat in beats {
            arguments += [
                RedisArgument(beat.hold.job), RedisArgument(beat.hold.fence),
                RedisArgument(beat.stage ?? ""),
                beat.progress.map { RedisArgument($0.framesDone) } ?? "",
                beat.progress.map { RedisArgument($0.frames) } ?? "",
            ]
        }
        let reply = try await run(QueueScript.beat, arguments)
        guard let answers = reply.array?.map(\.string), answers.count == beats.count else {
            throw unexpected(reply, of: QueueScript.beat)
        }
        return answers.map { $0 == "K" || $0 == "E" ? .held : $0 == "C" ? .cancelled : .fenced }
    }

    /// Says that a worker has ended, so that nobody counts it any more. One that died is forgotten after ten leases.
    public func leave(_ worker: String) async throws(QueueError) {
        for (command, key) in [("ZREM", name.keys.workers), ("HDEL", name.keys.workerInfos)] {
            _ = try await send([
                RedisArgument(command), RedisArgument(key), RedisArgument(worker),
            ])
        }
    }

    /// What became of holds that a living worker has lost.
    struct Pardons: Equatable {
        /// Holds that nobody had taken back yet: their jobs wait for a worker again.
        var released = 0
        /// Holds for which a crash was counted, which is taken back.
        var pardoned = 0
    }

    /// Says of lost holds that their worker lives, so that no crash is counted for them.
    ///
    /// The worker has ended its work on them, or ends it at once.
    func pardon(_ holds: [HoldID]) async throws(QueueError) -> Pardons {
        let reply = try await run(
            QueueScript.pardon,
            [RedisArgument(settings.crashesToQuarantine)]
                + holds.flatMap { [RedisArgument($0.job), RedisArgument($0.fence)] })
        guard let answers = reply.array, answers.count == holds.count else {
            throw unexpected(reply, of: QueueScript.pardon)
        }
        var pardons = Pardons()
        for answer in answers {
            switch answer.string {
            case "RELEASED": pardons.released += 1
            case "PARDONED": pardons.pardoned += 1
            case "NOTHING": break
            default: throw unexpected(answer, of: QueueScript.pardon)
            }
        }
        return pardons
    }
}
