public import Edits
import FoundationEssentials
import Redis

/// The workers of a queue as the time of their last heartbeats tells: those that live, and those of which nothing was heard.
///
/// `reap` forgets a worker after ten leases, and only a living worker reaps: where all are dead, their names stay. So whether a worker
/// lives is a question of the time and not of its name.
public struct Fleet: Sendable {
    /// The workers that sent a heartbeat recently.
    public let living: [WorkerInfo]
    public let silent: [SilentWorker]
    /// Why the reports of some living workers cannot be read, by name. Such a worker is among the living by its name alone.
    let unreadable: [String: String]

    /// The time without a heartbeat after which a worker counts as silent, in leases of its own. It beats three times a lease, and its
    /// jobs are taken back after one.
    static let silentAfterLeases = 2

    /// Judges workers by the times of their last heartbeats.
    ///
    /// - Parameters:
    ///   - heard: the times by the server's clock, ms since 1970. One that lies ahead is of a clock that was set back since.
    ///   - now: the server's time.
    ///   - believed: the time without a leap of its clock that is not believed yet; nil if there is none. Heartbeats before the leap are
    ///     recent by this one.
    ///   - lease: that of workers whose release does not state theirs.
    ///   - unreadable: Why reports cannot be read, by the names of their workers.
    init(
        _ infos: [WorkerInfo], heard: [String: Int], at now: Int, orBelieved believed: Int? = nil,
        lease: Duration, unreadable: [String: String] = [:]
    ) {
        func isSilent(_ info: WorkerInfo) -> Bool {
            guard let last = heard[info.name] else { return true }
            let lease = info.leaseMilliseconds ?? lease.milliseconds
            return [now, believed ?? now].allSatisfy {
                abs($0 - last) > Self.silentAfterLeases * lease
            }
        }
        let living = infos.filter { !isSilent($0) }
        self.living = living
        self.unreadable = unreadable.filter { name, _ in living.contains { $0.name == name } }
        silent = infos.filter(isSilent).map { SilentWorker(name: $0.name, since: heard[$0.name]) }
    }
}

/// A worker that has sent no heartbeat for some time: it died, or does not reach Redis.
public struct SilentWorker: Sendable, Codable, Equatable {
    public let name: String
    /// The time of its last heartbeat, ms since 1970; nil if Redis has lost it.
    public let since: Int?
}

/// The jobs that are due by now and wait for any living worker: a question of the queue and of the time. Nobody announces it.
public struct OverdueWork: Sendable, Codable, Equatable {
    /// Delayed jobs whose time has come: for their start, or for another attempt.
    public let delayed: Int
    /// Jobs in the hands of workers whose leases ran out: to be taken back, or to be published.
    public let leases: Int

    public init(delayed: Int, leases: Int) { (self.delayed, self.leases) = (delayed, leases) }

    public var isNothing: Bool { delayed + leases == 0 }

    /// The description for people while no worker lives; nil if nothing is due.
    public var sentence: String? {
        func many(_ count: Int, _ one: String, _ more: String) -> String? {
            count == 0 ? nil : "\(count) \(count == 1 ? one : more)"
        }
        let parts = [
            many(delayed, "delayed job is due", "delayed jobs are due"),
            many(
                leases, "job of a worker that died waits to be taken back",
                "jobs of workers that died wait to be taken back"),
        ].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

extension JobQueue {
    /// Returns the workers that sent a heartbeat recently.
    public func workers() async throws(QueueError) -> [WorkerInfo] { try await fleet().living }

    /// Judges the workers by their last heartbeats. A report that cannot be read harms the knowledge of one worker alone: a later release
    /// may have sent it, or somebody wrote it by hand. The doctor names it.
    public func fleet() async throws(QueueError) -> Fleet {
        let replies = try await sendAll([
            ["HGETALL", name.keys.workerInfos],
            ["ZRANGE", name.keys.workers, "0", "-1", "WITHSCORES"],
            ["HEXISTS", name.keys.virtual, "leapt"],
        ])
        var infos: [WorkerInfo] = []
        var unreadable: [String: String] = [:]
        for (name, info) in (replies[0].pairs ?? [:]).sorted(by: { $0.key < $1.key }) {
            do {
                infos.append(try JSONDecoder().decode(WorkerInfo.self, from: Data(info.utf8)))
            } catch {
                unreadable[name] = error.decodingReason
                infos.append(WorkerInfo(unreadable: name))
            }
        }
        let heard = (replies[1].pairs ?? [:]).compactMapValues { Double($0).map { Int($0) } }
        var believed: Int?
        if replies[2].int == 1 { believed = try await dueTime() }
        return Fleet(
            infos, heard: heard, at: try await now(), orBelieved: believed,
            lease: settings.lease, unreadable: unreadable)
    }

    /// Returns what is due now.
    func overdue() async throws(QueueError) -> OverdueWork {
        let now = try await dueTime()
        let replies = try await sendAll([
            ["ZCOUNT", name.keys.prefix + "delayed", "-inf", now],
            ["ZCOUNT", name.keys.lease, "-inf", now],
        ])
        return OverdueWork(delayed: Int(replies[0].int ?? 0), leases: Int(replies[1].int ?? 0))
    }

    /// Returns the number of delayed jobs that are due by the end of a span from now.
    func delayed(within time: Duration) async throws(QueueError) -> Int {
        let end = try await dueTime() + time.milliseconds
        let reply = try await send("ZCOUNT", name.keys.prefix + "delayed", "-inf", end)
        return Int(reply.int ?? 0)
    }
}
