public import Edits
import Redis

extension JobQueue {
    public enum Replay: String, Sendable {
        case replayed = "OK"
        /// The job does not exist, or its record has been dropped.
        case unknown = "GONE"
        case notDead = "NOTDEAD"
        /// The job's request was malformed, so it has nothing to run. The producer must send it again.
        case malformed = "MALFORMED"
        /// The job is stuck, and an edit that is being published cannot be replaced.
        case stuck = "STUCK"
        /// The lost job was started again before.
        case underWay = "AGAIN"
        /// The job is done, and its record, its edit or its fields are not kept: it can only be sent again, under another id.
        case notKept = "SHED"
        /// Another job has the id by now: the one in the file can only be sent again, under another id.
        case conflict = "OTHER"
        /// The job's record has a later format; a newer minilab can replay the job.
        case later = "LATER"
        /// What Redis has of the job is damaged; it stays as it is.
        case damaged = "ERROR"
    }

    /// The first word of a script's answer about one job; the words behind `ERROR` are the server's.
    static func word(of answer: String) -> String {
        answer.hasPrefix("ERROR ") ? "ERROR" : answer
    }

    public static let replayMax = 200

    /// Makes dead jobs ready again, and publishes the versions of stuck jobs once more. Returns one result per id; at most
    /// ``replayMax`` ids are allowed.
    ///
    /// - Parameter edit: The new edit of the jobs; nil keeps their edits.
    public func replay(
        _ ids: [String], with edit: Edit? = nil
    ) async throws(QueueError) -> [Replay] {
        precondition(ids.count <= Self.replayMax, "replay in chunks of \(Self.replayMax)")
        let reply = try await run(QueueScript.replay, edit?.json.canonical, ids)
        guard let answers = reply.array?.compactMap({ $0.string.flatMap(Replay.init(answer:)) }),
            answers.count == ids.count
        else { throw unexpected(reply, of: QueueScript.replay) }
        return answers
    }
}

/// A job that is done, and whose version its library lacks.
public struct LostJob: Sendable, Encodable, Equatable {
    public let job: String
    public let asset: String
    /// The version that it published.
    public let version: String
    /// The highest revision of the asset that was told.
    public let told: Int

    public init(job: String, asset: String, version: String, told: Int) {
        (self.job, self.asset) = (job, asset)
        (self.version, self.told) = (version, told)
    }
}

extension JobQueue {
    /// The most lost jobs of one call: each is searched in the list of done jobs.
    private static let lostMax = 50

    /// Makes done jobs ready again whose versions the library lacks. Each keeps the time of its arrival, and the next version of each asset
    /// gets a higher revision than was told, also where its job cannot be started.
    ///
    /// - Returns: One result per job: `replayed`; `notKept`; `underWay`.
    public func replay(lost jobs: [LostJob]) async throws(QueueError) -> [Replay] {
        var results: [Replay] = []
        for start in stride(from: 0, to: jobs.count, by: Self.lostMax) {
            let some = jobs[start..<min(start + Self.lostMax, jobs.count)]
            let reply = try await run(
                QueueScript.replayLost,
                some.flatMap { [$0.job, $0.version, $0.asset, "\($0.told)"] })
            guard
                let answers = reply.array?.compactMap({ $0.string.flatMap(Replay.init(answer:)) }),
                answers.count == some.count
            else { throw unexpected(reply, of: QueueScript.replayLost) }
            results += answers
        }
        return results
    }
}

extension JobQueue.Replay {
    init?(answer: String) { self.init(rawValue: JobQueue.word(of: answer)) }
}
