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
        /// The job's record in Redis is damaged; it stays as it is.
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

/// A job that is done, and of which its library lacks what it made.
public struct LostJob: Sendable, Encodable, Equatable {
    /// The part of a job's result that the library lacks.
    public enum Lack: String, Sendable, Encodable {
        /// The version that it published.
        case version
        /// The draft that it made, which was neither published nor discarded.
        case draft
        /// Renditions that it made of a version.
        case renditions
    }

    /// The version or draft that a job was about, where that is lost, too.
    public struct Base: Sendable, Encodable, Equatable {
        /// The job that made it, and makes it again under another name.
        public let job: String
        /// The version or draft.
        public let version: String

        public init(job: String, version: String) { (self.job, self.version) = (job, version) }
    }

    public let job: String
    public let asset: String
    public let lack: Lack
    /// The version or draft that it made, or whose renditions it made.
    public let version: String
    /// The highest revision of the asset that was told; 0 if no version of it is lost.
    public let told: Int
    /// The lost draft that it published, or the lost version whose renditions it made, if it follows that one; nil otherwise.
    public var base: Base?

    public init(
        job: String, asset: String, version: String, told: Int, lack: Lack = .version,
        base: Base? = nil
    ) {
        (self.job, self.asset, self.lack) = (job, asset, lack)
        (self.version, self.told, self.base) = (version, told, base)
    }

    /// Returns the job with the highest revision of its asset that was told.
    package func telling(_ told: Int) -> LostJob {
        LostJob(job: job, asset: asset, version: version, told: told, lack: lack, base: base)
    }

    /// Returns the mode in which the job is done again, so that it is about the same; nil for that in which it was sent.
    func mode(insteadOf sent: Edit.Mode) -> Edit.Mode? {
        switch sent {
        // It follows the job that makes it again, when nothing knows the new name.
        case .publish(let named?) where named == base?.version: .publish(version: nil)
        case .renditions(let named?) where named == base?.version: .renditions(version: nil)
        // Another version may be current by now.
        case .renditions(nil) where base == nil: .renditions(version: version)
        default: nil
        }
    }
}

extension JobQueue {
    /// The most lost jobs of one call: each is searched in the list of done jobs.
    private static let lostMax = 50

    /// Makes done jobs ready again of which the library lacks what they made. Each keeps the time of its arrival, and the next version of
    /// each asset gets a higher revision than was told, also where its job cannot be started.
    ///
    /// - Returns: One result per job: `replayed`; `notKept`; `underWay`.
    public func replay(lost jobs: [LostJob]) async throws(QueueError) -> [Replay] {
        var results: [Replay] = []
        for start in stride(from: 0, to: jobs.count, by: Self.lostMax) {
            let some = jobs[start..<min(start + Self.lostMax, jobs.count)]
            var words: [String] = []
            for lost in some {
                words += [lost.job, lost.version, lost.asset, "\(lost.told)"]
                words += [lost.base?.job ?? "", lost.base?.version ?? ""]
                words.append(try await edit(again: lost) ?? "")
            }
            let reply = try await run(QueueScript.replayLost, words)
            guard
                let answers = reply.array?.compactMap({ $0.string.flatMap(Replay.init(answer:)) }),
                answers.count == some.count
            else { throw unexpected(reply, of: QueueScript.replayLost) }
            results += answers
        }
        return results
    }

    /// Returns the edit with which a lost job is done again, as canonical JSON; nil for the one that it was sent with.
    private func edit(again lost: LostJob) async throws(QueueError) -> String? {
        guard lost.base != nil || lost.lack == .renditions,
            let record = try await self.record(of: lost.job),
            let text = try await self.edit(of: record)
        else { return nil }
        let sent: Edit
        do {
            sent = try Edit(json: text)
        } catch {
            return nil  // of a later release
        }
        guard let mode = lost.mode(insteadOf: sent.mode) else { return nil }
        return Edit(
            mode, output: sent.output, renditions: sent.renditions, isDraft: sent.isDraft,
            remakes: sent.remakes, statesStrip: sent.statesStrip
        ).json.canonical
    }
}

extension JobQueue.Replay {
    init?(answer: String) { self.init(rawValue: JobQueue.word(of: answer)) }
}
