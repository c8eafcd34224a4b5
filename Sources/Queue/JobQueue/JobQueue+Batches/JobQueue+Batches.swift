public import Edits
import Redis

extension JobQueue {
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
        let entry = RedisArgument(entry)
        return try await send(["XRANGE", RedisArgument(name.keys.ingress), entry, entry])
            .array?.isEmpty == false
    }

    /// One job of a batch, as its stream stores it.
    public struct Member: Sendable {
        /// The photo.
        public let asset: AssetPath
        /// The edit as canonical JSON, if it differs from the batch's edit.
        public let edit: String?
        /// The likely cost, in milliseconds of one slot, if it is known.
        public let cost: Int?

        /// Creates a member.
        public init(asset: AssetPath, edit: Edit? = nil, cost: Int? = nil) {
            self.init(asset: asset, canonicalEdit: edit?.json.canonical, cost: cost)
        }

        /// Creates one of many members that share an edit, which is encoded only once.
        public init(asset: AssetPath, canonicalEdit: String?, cost: Int? = nil) {
            self.asset = asset
            edit = canonicalEdit
            self.cost = cost
        }
    }

    /// The limits of a producer of members.
    public struct MemberLimits: Sendable {
        /// The maximum number of bytes of Redis that the tenant takes; nil for no limit.
        public var storedMax: Int?
        /// Whether the batch must be open. The bytes of members of a batch that nobody has opened are no tenant's.
        public var mustBeOpen: Bool

        /// Creates limits.
        public init(storedMax: Int? = nil, mustBeOpen: Bool = false) {
            self.storedMax = storedMax
            self.mustBeOpen = mustBeOpen
        }
    }

    /// The maximum number of members that one call of ``add(_:to:from:)`` adds.
    public static let membersMax = 1000

    /// The result of adding members.
    public enum Addition: Sendable, Equatable {
        /// All members are in the stream. The number counts the new ones; the others had been sent before.
        case added(Int)
        /// No member was added: the stream has received only this many entries so far.
        case gap(after: Int)
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
        var arguments = [
            RedisArgument(batch.string), RedisArgument(edit ?? ""), RedisArgument(number),
            Self.quota(limits.storedMax), Self.quota(storedAllMax),
            limits.mustBeOpen ? "1" : "",
        ]
        arguments.reserveCapacity(6 + 3 * members.count)
        for member in members {
            arguments.append(RedisArgument(member.asset.string))
            arguments.append(member.edit.map { RedisArgument($0) } ?? "")
            arguments.append(member.cost.map { RedisArgument($0) } ?? "")
        }
        let reply = try await run(QueueScript.append, arguments)
        switch (reply.array?.first?.string, reply.array?.last?.int) {
        case ("OK", let added?): return .added(Int(added))
        case ("GAP", let had?): return .gap(after: Int(had))
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
