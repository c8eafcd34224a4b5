public import Adjustments
import FoundationEssentials
import Redis

/// How many jobs are where.
public struct QueueStatus: Sendable, Codable, Equatable {
    /// Entries of the ingress stream that are not yet jobs.
    public let incoming: Int
    /// Jobs that can be claimed.
    public let ready: Int
    /// Jobs that wait for their next attempt.
    public let delayed: Int
    /// Jobs that wait for another job of their asset.
    public let parked: Int
    /// Jobs that workers hold.
    public let active: Int
    /// Jobs that failed for good.
    public let dead: Int
    /// What happened since the queue exists: `admitted`, `completed`, `failed`, `retried`,
    /// `drafted`, `unchanged`, `crashed`, `replayed`, `duplicates`, `conflicts`.
    public let counters: [String: Int]
    /// What workers hold, the oldest hold first; at most ``heldMax``.
    public let held: [JobRecord]

    /// Most held jobs that are listed.
    public static let heldMax = 50

    /// Whether nothing is left to do.
    public var isDrained: Bool { incoming + ready + delayed + parked + active == 0 }
}

/// What Redis knows about one job.
public struct JobRecord: Sendable, Codable, Equatable {
    /// The job.
    public let job: String
    /// Where it is: `ready`, `delayed`, `parked`, `active`, `committing`, `done` or `dead`.
    public let state: String
    /// The asset.
    public let asset: String
    /// How often the job was started from the dead, plus one.
    public let generation: Int
    /// Failed attempts of this generation.
    public let attempts: Int
    /// Workers that died over this generation.
    public let crashes: Int
    /// Who holds it, or held it last.
    public let worker: String?
    /// When it was admitted, ms since 1970.
    public let enqueued: Int
    /// When it was claimed last, ms since 1970.
    public let claimed: Int?
    /// When it was done or dead, ms since 1970.
    public let ended: Int?
    /// Why the last attempt failed, for programs.
    public let code: FailureCode?
    /// Why the last attempt failed, for people.
    public let message: String?
    /// The token of the newest hold.
    public let fence: String?
    /// The version it published.
    public let version: String?
}

extension JobQueue {
    /// Counts the jobs.
    public func status() async throws(QueueError) -> QueueStatus {
        let prefix = name.keyPrefix
        let counts = try await send(["HGETALL", "\(prefix)counters"]).pairs ?? [:]
        let leased = try await send([
            "ZRANGE", "\(prefix)lease", "0", RedisArgument(QueueStatus.heldMax - 1),
        ])
        var held: [JobRecord] = []
        for id in leased.array?.compactMap(\.string) ?? [] {
            if let record = try await record(of: id) { held.append(record) }
        }
        return QueueStatus(
            incoming: try await number(["XLEN", "\(prefix)in"]),
            ready: try await number(["ZCARD", "\(prefix)ready"]),
            delayed: try await number(["ZCARD", "\(prefix)delayed"]),
            parked: try await number(["ZCARD", "\(prefix)parked"]),
            active: try await number(["ZCARD", "\(prefix)lease"]),
            dead: try await number(["ZCARD", "\(prefix)dead"]),
            counters: counts.compactMapValues { Int($0) }, held: held)
    }

    /// The record of a job, or nil when there is none (any more).
    public func record(of job: String) async throws(QueueError) -> JobRecord? {
        guard let fields = try await send(["HGETALL", "\(name.keyPrefix)job:\(job)"]).pairs,
            let state = fields["state"]
        else { return nil }
        func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
        return JobRecord(
            job: job, state: state, asset: fields["asset"] ?? "",
            generation: number("generation") ?? 0, attempts: number("attempts") ?? 0,
            crashes: number("crashes") ?? 0, worker: fields["worker"],
            enqueued: number("enqueued") ?? 0, claimed: number("claimed"), ended: number("ended"),
            code: fields["code"].flatMap(FailureCode.init), message: fields["message"],
            fence: fields["fence"], version: fields["version"])
    }

    /// How a done job ended, or nil when it has not or its record has been dropped.
    public func outcome(of job: String) async throws(QueueError) -> JobOutcome? {
        guard
            let outcome = try await send(["HGET", "\(name.keyPrefix)job:\(job)", "outcome"]).string,
            let bytes = try await send(["GET", "\(name.keyPrefix)result:\(job)"]).bytes
        else { return nil }
        do {
            return try JobOutcome(outcome, json: Data(bytes))
        } catch {
            throw QueueError(
                .unexpectedReply, "the result of job \(job) cannot be read: \(error)")
        }
    }

    /// Why earlier attempts of a job ended, the newest first; at most 20 are kept.
    public func attempts(of job: String) async throws(QueueError) -> [Attempt] {
        let rows = try await send(["LRANGE", "\(name.keyPrefix)attempts:\(job)", "0", "-1"])
        var attempts: [Attempt] = []
        for row in rows.array ?? [] {
            guard let bytes = row.bytes else { continue }
            do {
                attempts.append(try JSONDecoder().decode(Attempt.self, from: Data(bytes)))
            } catch {
                throw QueueError(
                    .unexpectedReply, "the history of job \(job) cannot be read: \(error)")
            }
        }
        return attempts
    }

    /// Dead jobs, the one that died first at the front.
    ///
    /// - Parameters:
    ///   - offset: how many to pass over.
    ///   - count: how many to give at most.
    public func dead(offset: Int, count: Int) async throws(QueueError) -> [JobRecord] {
        let ids = try await send([
            "ZRANGE", "\(name.keyPrefix)dead", RedisArgument(offset),
            RedisArgument(offset + count - 1),
        ])
        var records: [JobRecord] = []
        for id in ids.array?.compactMap(\.string) ?? [] {
            if let record = try await record(of: id) { records.append(record) }
        }
        return records
    }

    private func number(_ command: [RedisArgument]) async throws(QueueError) -> Int {
        Int(try await send(command).int ?? 0)
    }
}

extension RedisReply {
    /// The flat reply of `HGETALL`, as fields and values; nil when it is none.
    var pairs: [String: String]? {
        guard let items = array else { return nil }
        var pairs: [String: String] = [:]
        for index in stride(from: 0, to: items.count - 1, by: 2) {
            guard let name = items[index].string, let value = items[index + 1].bytes else {
                return nil
            }
            pairs[name] = String(decoding: value, as: UTF8.self)
        }
        return pairs
    }
}
