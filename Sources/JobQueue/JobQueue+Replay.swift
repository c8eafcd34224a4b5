public import Adjustments
import Redis

extension JobQueue {
    /// What became of a job that was to be replayed.
    public enum Replay: String, Sendable {
        /// It is ready again.
        case replayed = "OK"
        /// There is no such job, or its record has been dropped since.
        case unknown = "GONE"
        /// It is not dead.
        case notDead = "NOTDEAD"
        /// Its envelope was wrong: there is nothing to run. Send it again.
        case malformed = "MALFORMED"
        /// It is stuck, and what is being published cannot be given another edit.
        case stuck = "STUCK"
        /// Its record is of a later format: a newer minilab can.
        case later = "LATER"
    }

    /// Most ids of one replay call.
    public static let replayMax = 200

    /// Makes dead jobs ready again, and has the versions of jobs that are stuck published once more; one answer per id, of which at most ``replayMax`` are allowed.
    ///
    /// - Parameter edit: what they are to do from now on; nil means what they were to do.
    public func replay(
        _ ids: [String], with edit: Edit? = nil
    ) async throws(QueueError) -> [Replay] {
        precondition(ids.count <= Self.replayMax, "replay in chunks of \(Self.replayMax)")
        let reply = try await run(
            QueueScript.replay,
            [RedisArgument(edit?.json.canonical ?? "")] + ids.map { RedisArgument($0) })
        guard let answers = reply.array?.compactMap({ $0.string.flatMap(Replay.init) }),
            answers.count == ids.count
        else { throw unexpected(reply, of: QueueScript.replay) }
        return answers
    }
}
