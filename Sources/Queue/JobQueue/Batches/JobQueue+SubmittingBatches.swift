public import Edits
import Redis

extension JobQueue {
    public enum BatchSubmission: Sendable, Equatable {
        case created
        /// The batch was opened before, with the same edit.
        case same
        /// A batch of this name has another edit.
        case otherEdit
        /// A batch of this name has ended. The name is reserved until this time at the latest, in ms since 1970; nil if no worker
        /// has recorded the time.
        case nameUsed(until: Int?)
        /// The tenant has this many jobs that have not ended, and its quota allows no more.
        case overQuota(waiting: Int, max: Int)
        /// The tenant stores this many bytes, and its quota allows no more.
        case overBytes(stored: Int, max: Int)
    }

    public enum Sealing: Sendable, Equatable {
        case sealed
        /// The batch was sealed at this number before.
        case same
        /// No batch of this name was opened.
        case unknownBatch
        /// The batch is sealed at another number of jobs.
        case sealedBefore(at: Int)
        /// The batch already has this larger number of jobs.
        case given(Int)
        /// As for ``BatchSubmission``.
        case nameUsed(until: Int?)
    }

    /// Opens a batch and returns the result at once. ``open(_:)`` reports it by a later event.
    ///
    /// - Parameters:
    ///   - folder: The folder of the key that opens it; nil if no key does.
    ///   - backlogMax: As for jobs; an open batch counts as one.
    ///   - storedMax: As for jobs.
    /// - Throws: As for jobs.
    public func submit(
        _ batch: BatchRequest, folder: String?, backlogMax: Int?, storedMax: Int? = nil
    ) async throws(QueueError) -> BatchSubmission {
        var fields = ["batch", batch.id.string, "edit", batch.edit.json.canonical]
        if let cap = batch.cap { fields += ["cap", "\(cap)"] }
        if let folder { fields += ["folder", folder] }
        fields += batch.scheduling.fields.flatMap { [$0.name, $0.value] }
        let (answer, _, number) = try await submitBatch(fields, backlogMax, storedMax)
        switch answer {
        case "CREATED": return .created
        case "SAME": return .same
        case "OTHER": return .otherEdit
        case "USED": return .nameUsed(until: number)
        case "QUOTA": return .overQuota(waiting: number ?? 0, max: backlogMax ?? 0)
        case "STORED": return .overBytes(stored: number ?? 0, max: storedMax ?? 0)
        case "SHARE": throw shareUsed(number ?? 0)
        default: throw unknown(answer)
        }
    }

    /// Seals a batch and returns the result at once, unlike ``seal(_:jobs:cost:)``.
    ///
    /// - Parameter cost: The likely cost of all jobs, in milliseconds of one slot, for the ETA.
    public func submitSeal(
        of batch: BatchID, jobs: Int, cost: Int? = nil
    ) async throws(QueueError) -> Sealing {
        var fields = ["batch", batch.string, "seal", "\(jobs)"]
        if let cost { fields += ["total", "\(cost)"] }
        let (_, answer, number) = try await submitBatch(fields, nil, nil)
        switch (answer, number) {
        case ("SEALED", _): return .sealed
        case ("SAME", _): return .same
        case ("NONE", _): return .unknownBatch
        case ("AT", let jobs?): return .sealedBefore(at: jobs)
        case ("GIVEN", let jobs?): return .given(jobs)
        case ("USED", _): return .nameUsed(until: number)
        default: throw unknown(answer)
        }
    }

    /// - Returns: The replies for opening and for sealing, and the number that belongs to them, if any.
    private func submitBatch(
        _ fields: [String], _ backlogMax: Int?, _ storedMax: Int?
    ) async throws(QueueError) -> (opened: String, sealed: String, number: Int?) {
        let reply = try await run(
            QueueScript.submitBatch, backlogMax, storedMax, storedAllMax, fields)
        guard let parts = reply.array, parts.count == 3, let opened = parts[0].string,
            let sealed = parts[1].string, let number = parts[2].int
        else { throw unexpected(reply, of: QueueScript.submitBatch) }
        return (opened, sealed, number < 0 ? nil : Int(number))
    }

    private func unknown(_ answer: String) -> QueueError {
        QueueError(
            .unexpectedReply,
            "script \(QueueScript.submitBatch.name) of queue \(name) answered \(answer), which this version of minilab "
                + "does not know.")
    }

    /// Opens a batch. All entries of its stream, whether added before or after this call, are its jobs.
    ///
    /// Opening it again with the same edit changes nothing.
    ///
    /// - Returns: The entry's id in the ingress stream.
    @discardableResult
    public func open(_ batch: BatchRequest) async throws(QueueError) -> String {
        var fields = [
            (name: "batch", value: batch.id.string),
            (name: "edit", value: batch.edit.json.canonical),
        ]
        if let cap = batch.cap { fields.append((name: "cap", value: "\(cap)")) }
        return try await append(fields + batch.scheduling.fields, to: name.keys.ingress)
    }

    /// Declares the number of jobs of a batch. The batch is complete when that many jobs have ended.
    ///
    /// - Parameter cost: The likely cost of all jobs, in milliseconds of one slot, for the ETA.
    @discardableResult
    public func seal(
        _ batch: BatchID, jobs: Int, cost: Int? = nil
    ) async throws(QueueError) -> String {
        var fields = [(name: "batch", value: batch.string), (name: "seal", value: "\(jobs)")]
        if let cost { fields.append((name: "total", value: "\(cost)")) }
        return try await append(fields, to: name.keys.ingress)
    }

    /// Returns whether no worker has read an entry that ``open(_:)`` or ``seal(_:jobs:cost:)`` has sent.
    public func isIncoming(entry: String) async throws(QueueError) -> Bool {
        return try await send("XRANGE", name.keys.ingress, entry, entry)
            .array?.isEmpty == false
    }

    /// One job of a batch, as its stream stores it.
    public struct Member: Sendable {
        public let asset: AssetPath
        /// The edit as canonical JSON, if it differs from the batch's edit.
        public let edit: String?
        /// The likely cost, in milliseconds of one slot, if it is known.
        public let cost: Int?
        /// The values of its asset for placeholders.
        public let fields: AssetFields?

        public init(
            asset: AssetPath, edit: Edit? = nil, cost: Int? = nil, fields: AssetFields? = nil
        ) {
            self.init(
                asset: asset, canonicalEdit: edit?.json.canonical, cost: cost, fields: fields)
        }

        /// Creates one of many members that share an edit, which is encoded only once.
        public init(
            asset: AssetPath, canonicalEdit: String?, cost: Int? = nil, fields: AssetFields? = nil
        ) {
            self.asset = asset
            edit = canonicalEdit
            self.cost = cost
            self.fields = fields
        }
    }

    /// The limits of a producer of members.
    public struct MemberLimits: Sendable {
        /// The maximum number of bytes of Redis that the tenant takes; nil for no limit.
        public var storedMax: Int?
        /// Whether the batch must be open. The bytes of members of a batch that nobody has opened are no tenant's.
        public var mustBeOpen: Bool

        public init(storedMax: Int? = nil, mustBeOpen: Bool = false) {
            self.storedMax = storedMax
            self.mustBeOpen = mustBeOpen
        }
    }

    /// The maximum number of members that one call of ``add(_:to:from:)`` adds.
    public static let membersMax = 1000

    public enum Addition: Sendable, Equatable {
        /// All members are in the stream. The number counts the new ones; the others had been sent before.
        case added(Int)
        /// No member was added: the stream has received only this many entries so far.
        case gap(after: Int)
        /// No member was added: a producer sent the stream an id that is not the next number, so nobody knows which members are new.
        /// The stream has received this many entries, which become jobs.
        case unnumbered(after: Int)
        /// No member was added: the batch was cancelled.
        case cancelled
        /// No member was added: the batch is sealed at this number of jobs, and some members exceed it.
        case sealed(at: Int)
        /// No member was added: a batch of this name has ended. The name is reserved until this time at the latest, in ms since
        /// 1970; nil if no worker has recorded the time.
        case nameUsed(until: Int?)
        /// No member was added: the batch has another edit.
        case otherEdit
        /// No member was added: no batch of this name is open.
        case notOpen
        /// No member was added: the tenant stores this many bytes, and its quota allows no more.
        case overBytes(stored: Int, max: Int)
    }

    /// Adds jobs to a batch's stream, as entries 1-1, 1-2, …
    ///
    /// Members that are sent again, because a reply was lost or the producer was restarted, are not added twice.
    ///
    /// - Parameters:
    ///   - members: At most ``membersMax``, and together no longer than a command may be. An empty array only asks whether
    ///     members would be accepted.
    ///   - edit: The edit of the batch as canonical JSON; nil accepts any edit of the batch.
    ///   - number: The number of the first member, from 0.
    ///   - limits: What the producer may store.
    /// - Throws: As ``submit(_:backlogMax:storedMax:)``.
    public func add(
        _ members: [Member], to batch: BatchID, editedBy edit: String? = nil, from number: Int,
        within limits: MemberLimits = MemberLimits()
    ) async throws(QueueError) -> Addition {
        precondition(members.count <= Self.membersMax)
        let reply = try await run(
            QueueScript.append, batch.string, edit, number, limits.storedMax, storedAllMax,
            limits.mustBeOpen, members)
        switch (reply.array?.first?.string, reply.array?.last?.int) {
        case ("OK", let added?): return .added(Int(added))
        case ("GAP", let had?): return .gap(after: Int(had))
        case ("HARMED", let had?): return .unnumbered(after: Int(had))
        case ("CANCELLED", _): return .cancelled
        case ("SEALED", let jobs?): return .sealed(at: Int(jobs))
        case ("USED", let end?): return .nameUsed(until: end < 0 ? nil : Int(end))
        case ("OTHER", _): return .otherEdit
        case ("UNOPENED", _): return .notOpen
        case ("STORED", let bytes?):
            return .overBytes(stored: Int(bytes), max: limits.storedMax ?? 0)
        case ("SHARE", let bytes?): throw shareUsed(Int(bytes))
        default: throw unexpected(reply, of: QueueScript.append)
        }
    }
}

extension JobQueue.Member: Arguments {
    func append(to arguments: inout [RedisArgument]) {
        asset.string.append(to: &arguments)
        edit.append(to: &arguments)
        cost.append(to: &arguments)
        (fields?.json).append(to: &arguments)
    }
}
