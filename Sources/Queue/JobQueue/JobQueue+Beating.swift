import Redis

/// The reason why a worker must stop its work on a job.
public enum HoldEnd: Sendable {
    /// Another worker holds the job, or the job has ended: the worker must not write to it.
    case lost
    /// The job was cancelled. This worker still holds it and must end it.
    case cancelled
}

/// One job in a heartbeat.
struct Beat {
    let hold: HoldID
    var stage: String?
    var progress: JobProgress?
}

extension JobQueue {
    /// Renews leases and confirms claims. Returns one standing per job, in order.
    func beat(
        _ beats: [Beat], by worker: WorkerInfo
    ) async throws(QueueError) -> [HoldState] {
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

    /// Unregisters a worker that stops. A worker that died is removed after ten leases.
    public func leave(_ worker: String) async throws(QueueError) {
        for (command, key) in [("ZREM", name.keys.workers), ("HDEL", name.keys.workerInfos)] {
            _ = try await send([
                RedisArgument(command), RedisArgument(key), RedisArgument(worker),
            ])
        }
    }

    /// The result of pardoning lost holds.
    struct Pardons: Equatable {
        /// The number of holds that were not reaped yet: their jobs are ready again.
        var released = 0
        /// The number of holds for which a crash was counted and is now uncounted.
        var pardoned = 0
    }

    /// Reports that the worker of lost holds is alive, so that no crash is counted for them.
    ///
    /// The worker has stopped its work on them, or stops at once.
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
