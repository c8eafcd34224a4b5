public import Adjustments
import Redis

extension JobQueue {
    /// Opens a batch: what is added to its lane from then on, or was before, are its jobs.
    ///
    /// Opening it again with the same edit changes nothing.
    ///
    /// - Returns: the entry's id in the ingress stream.
    @discardableResult
    public func open(_ batch: BatchRequest) async throws(QueueError) -> String {
        var fields = [
            (name: "batch", value: batch.id.string),
            (name: "edit", value: batch.edit.json.canonical),
        ]
        if let cap = batch.cap { fields.append((name: "cap", value: "\(cap)")) }
        return try await append(fields + batch.scheduling.fields, to: name.keys.ingress)
    }

    /// Says how many jobs a batch has: it is complete when so many have ended.
    ///
    /// - Parameter cost: what all of them are likely to cost, in milliseconds of one slot, for the ETA.
    @discardableResult
    public func seal(
        _ batch: BatchID, jobs: Int, cost: Int? = nil
    ) async throws(QueueError) -> String {
        var fields = [(name: "batch", value: batch.string), (name: "seal", value: "\(jobs)")]
        if let cost { fields.append((name: "total", value: "\(cost)")) }
        return try await append(fields, to: name.keys.ingress)
    }

    /// One job of a batch, as its lane has it.
    public struct Member: Sendable {
        /// Which photo.
        public let asset: AssetPath
        /// What to do with it as canonical JSON, when it is not the batch's edit.
        public let edit: String?
        /// What it is likely to cost, in milliseconds of one slot, when it is known.
        public let cost: Int?

        /// Makes a member.
        public init(asset: AssetPath, edit: Edit? = nil, cost: Int? = nil) {
            self.init(asset: asset, canonicalEdit: edit?.json.canonical, cost: cost)
        }

        /// Makes one of many that share an edit, whose text was made once.
        public init(asset: AssetPath, canonicalEdit: String?, cost: Int? = nil) {
            self.asset = asset
            edit = canonicalEdit
            self.cost = cost
        }
    }

    /// Most members that one call of ``add(_:to:from:)`` adds.
    public static let membersMax = 1000

    /// What became of members that were to be added.
    public enum Addition: Sendable, Equatable {
        /// All of them are in the lane; so many were new, the others had been sent before.
        case added(Int)
        /// None was added: the lane has had only so many so far.
        case gap(after: Int)
        /// None was added: the batch was cancelled.
        case cancelled
        /// None was added: the batch is sealed at so many jobs, and some of these are beyond.
        case sealed(at: Int)
        /// None was added: a batch of this name ended, and the name is remembered until then at the latest, in ms
        /// since 1970; nil when no worker has said until when.
        case nameUsed(until: Int?)
        /// None was added: the batch has another edit.
        case otherEdit
    }

    /// Adds jobs to a batch's lane, as entries 1-1, 1-2, … of the stream.
    ///
    /// Those that are sent again, because a reply was lost or the producer was restarted, are not in the lane
    /// twice.
    ///
    /// - Parameters:
    ///   - members: at most ``membersMax``, and together no longer than a command may be. None asks whether some
    ///     would be taken.
    ///   - edit: the edit of the batch as canonical JSON; nil means whichever it has.
    ///   - number: the number of the first of them, from 0.
    public func add(
        _ members: [Member], to batch: BatchID, editedBy edit: String? = nil, from number: Int
    ) async throws(QueueError) -> Addition {
        precondition(members.count <= Self.membersMax)
        var arguments = [
            RedisArgument(batch.string), RedisArgument(edit ?? ""), RedisArgument(number),
        ]
        arguments.reserveCapacity(3 + 3 * members.count)
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
        default: throw unexpected(reply, of: QueueScript.append)
        }
    }
}
