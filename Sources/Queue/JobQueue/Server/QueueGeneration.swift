import Edits
import FoundationEssentials
import Redis

/// The generations of a queue's data, which the library remembers: a Redis that has lost data cannot know that it has.
///
/// Hash `library` has the id of its generation, and its turn, which workers raise once a minute. Redis is raised first and the library
/// remembers afterwards, so a turn below the remembered one is that of an earlier state: of an append-only file or a disk that was put
/// back, or of a replica. A library that remembers less than it did ten minutes ago was put back itself. The library remembers several generations, because queues of one name on two servers may share it while one
/// takes the place of the other.
public struct QueueGenerations: Sendable, Equatable {
    struct Generation: Sendable, Codable, Equatable {
        let id: String
        var turn: Int
    }

    /// The newest last.
    private(set) var known: [Generation] = []

    /// The most generations that are remembered.
    static let countMax = 8
    /// The latest format of the note that this version of minilab reads, and the one that it writes.
    private static let formatKnown = 1

    private struct Note: Codable {
        let format: Int
        let generations: [Generation]
    }

    private struct Format: Decodable { let format: Int }

    public init() {}

    /// Reads the library's note; nil: there is none yet.
    ///
    /// - Throws: `laterFormat`; `unexpectedReply` if it is damaged.
    init(_ note: [UInt8]?, of queue: QueueName) throws(QueueError) {
        guard let note else { return }
        let data = Data(note)
        let what = "what the library remembers of queue \(queue)"
        do {
            let format = try JSONDecoder().decode(Format.self, from: data).format
            guard format <= Self.formatKnown else {
                throw QueueError(
                    .laterFormat,
                    "\(what) has format \(format); this release reads up to \(Self.formatKnown) and leaves it alone."
                )
            }
            known = try JSONDecoder().decode(Note.self, from: data).generations
        } catch let error as QueueError {
            throw error
        } catch {
            throw QueueError(
                .unexpectedReply, "\(what) is damaged: \(error.decodingReason).", cause: error)
        }
    }

    /// The note for the library.
    func encoded() throws(QueueError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try Array(
                encoder.encode(Note(format: Self.formatKnown, generations: known)))
        } catch {
            throw QueueError(
                .unexpectedReply, "the generations of a queue do not encode: \(error).",
                cause: error)
        }
    }

    mutating func remember(_ generation: Generation) {
        known.removeAll { $0.id == generation.id }
        known.append(generation)
        known.removeFirst(max(0, known.count - Self.countMax))
    }
}

/// Why a queue has less than the library remembers, or the library less than it did.
public enum QueueLoss: String, Sendable, CaseIterable {
    /// Redis has no queue, and the library has seen one.
    case empty = "EMPTY"
    /// It has a queue that the library has never seen.
    case other = "OTHER"
    /// It has an earlier state of the queue.
    case older = "OLDER"
    /// The library is in an earlier state, and Redis is not.
    case library = "LIBRARY"

    /// The sentence for logs and the doctor.
    public func sentence(of queue: QueueName) -> String {
        let what: String
        switch self {
        case .empty: what = "it has nothing of queue \(queue), which has been there before"
        case .other: what = "its queue \(queue) is not the one that was there before"
        case .older: what = "its queue \(queue) is as it was some time ago"
        case .library:
            return
                "The library came back poorer: what it remembers of queue \(queue) is older than what it did ten minutes before, or "
                + "gone. Versions may be missing that the queue calls done: minilab doctor --library names their jobs. See "
                + "ops/RUNBOOK.md, \"Restore a backup\"."
        }
        return
            "Redis came back poorer: \(what). Jobs, keys of clients and webhooks may be missing; versions are not. Is it the right "
            + "server with the right volume? See ops/RUNBOOK.md, \"Redis came back poorer\"."
    }
}

extension QueueLoss {
    /// A loss, and when a program noticed it.
    struct Noticed: Sendable, Equatable {
        let loss: QueueLoss
        /// In ms of the queue's time.
        let at: Int
    }
}

extension JobQueue {
    /// The time for which each program that starts tells of a loss, as the alert does.
    private static let lossToldFor: Duration = .seconds(3600)
    /// The time for which the doctor reports a loss: while an operator may still put back what is missing.
    private static let lossReportedFor: Duration = .seconds(7 * 86400)

    /// Compares the queue with what the library remembers of it, and has the library remember what it has now.
    ///
    /// - Parameters:
    ///   - isRaised: whether the queue's turn is raised, as workers do.
    ///   - note: what the library remembers. It is read first, so it is never ahead of a queue that has lost nothing.
    ///   - keep: has the library remember.
    /// - Returns: the last loss, if it was noticed now or within the last hour, by any program.
    /// - Throws: `laterFormat`, `unexpectedReply`, `redis`, and what `note` and `keep` throw.
    func compareGeneration(
        isRaised: Bool, note: () async throws -> [UInt8]?, keep: ([UInt8]) async throws -> Void
    ) async throws -> QueueLoss.Noticed? {
        let before = try await note()
        var generations = try QueueGenerations(before, of: name)
        let id = String(UInt64.random(in: .min ... .max), radix: 36)
        let reply = try await run(
            QueueScript.generation, id, isRaised,
            generations.known.flatMap { [$0.id, "\($0.turn)"] })
        guard let parts = reply.array, parts.count == 5, let own = parts[0].string,
            let turn = parts[1].int, let now = parts[2].int.map({ Int($0) }),
            let why = parts[4].string
        else { throw unexpected(reply, of: QueueScript.generation) }
        generations.remember(.init(id: own, turn: Int(turn)))
        let after = try generations.encoded()
        if isRaised, after != before { try await keep(after) }
        guard let loss = QueueLoss(rawValue: why), let at = parts[3].int.map({ Int($0) }),
            now - at < Self.lossToldFor.milliseconds
        else { return nil }
        return QueueLoss.Noticed(loss: loss, at: at)
    }

    /// Compares the queue for a person who has the library at hand, and has nothing remembered.
    ///
    /// - Parameter note: what the library remembers.
    /// - Returns: what Redis has lost, as a sentence, if that was noticed now or within the last hour.
    /// - Throws: as ``compareGeneration(isRaised:note:keep:)``.
    public func loss(comparedWith note: () async throws -> [UInt8]?) async throws -> String? {
        try await compareGeneration(isRaised: false, note: note, keep: { _ in })
            .map { $0.loss.sentence(of: name) }
    }

    /// Returns what the doctor has to say of losses: one that was noticed, or that no worker has looked since Redis
    /// started.
    func lossWarnings() async throws(QueueError) -> [String] {
        let fields =
            try await send(
                "HMGET", name.keys.library, "poorerAt", "poorerWhy", "comparedAt", "id"
            ).array ?? []
        guard fields.count == 4 else { return [] }
        let now = try await now()
        var warnings: [String] = []
        if let at = fields[0].int.map({ Int($0) }),
            let loss = fields[1].string.flatMap(QueueLoss.init),
            now - at < Self.lossReportedFor.milliseconds
        {
            warnings.append(
                "\(loss.sentence(of: name)) It was noticed at \(Self.date(at)), and is told here until "
                    + "\(Self.date(at + Self.lossReportedFor.milliseconds)).")
        }
        if fields[3].string == nil, warnings.isEmpty {
            warnings.append(
                "queue \(name) has no library: no worker has run with it yet. If one has, Redis came back poorer, or this is another "
                    + "server or name. See ops/RUNBOOK.md, \"Redis came back poorer\".")
        }
        if let at = fields[2].int.map({ Int($0) }), let start = try await serverStart(now),
            at < start
        {
            warnings.append(
                "Redis started at \(Self.date(start)), and no worker has compared the queue with what its library remembers since: "
                    + "it may have come back poorer. A worker says so when it starts; before, minilab doctor --library does."
            )
        }
        return warnings
    }

    /// Returns when the server started, or up to a second before, in ms by its clock; nil if it does not say.
    private func serverStart(_ now: Int) async throws(QueueError) -> Int? {
        guard case .success(let info) = try await answer("INFO", "server") else { return nil }
        return Self.fields(of: info.string ?? "")["uptime_in_seconds"].flatMap { Int($0) }
            .map { now - ($0 + 1) * 1000 }
    }

    private static func date(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
    }
}
