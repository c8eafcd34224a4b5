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
        return try await append(fields + batch.scheduling.fields, to: name.ingressKey)
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
        return try await append(fields, to: name.ingressKey)
    }

    /// One job of a batch, as its lane has it.
    public struct Member: Sendable {
        /// Which photo.
        public let asset: AssetPath
        /// What to do with it, when it is not the batch's edit.
        public let edit: Edit?
        /// What it is likely to cost, in milliseconds of one slot, when it is known.
        public let cost: Int?

        /// Makes a member.
        public init(asset: AssetPath, edit: Edit? = nil, cost: Int? = nil) {
            self.asset = asset
            self.edit = edit
            self.cost = cost
        }
    }

    /// Most members that one call of ``add(_:to:from:)`` adds.
    public static let membersMax = 1000

    /// Adds jobs to a batch's lane, as entries 1-1, 1-2, … of the stream.
    ///
    /// Redis takes no entry whose id is not above the last one's. So members that are sent again, because a
    /// reply was lost or the producer was restarted, are refused there and are not in the lane twice.
    ///
    /// - Parameters:
    ///   - members: at most ``membersMax``; they travel in one go.
    ///   - number: the number of the first of them, from 0.
    /// - Returns: how many were new.
    public func add(
        _ members: [Member], to batch: BatchID, from number: Int
    ) async throws(QueueError) -> Int {
        precondition(members.count <= Self.membersMax)
        let lane = RedisArgument(name.laneKey(batch))
        let commands = members.enumerated().map { index, member in
            var command: [RedisArgument] = [
                "XADD", lane, RedisArgument("1-\(number + index + 1)"), "asset",
                RedisArgument(member.asset.string),
            ]
            if let edit = member.edit { command += ["edit", RedisArgument(edit.json.canonical)] }
            if let cost = member.cost { command += ["cost", RedisArgument(cost)] }
            return command
        }
        var added = 0
        for result in await redis.sendAll(commands) {
            switch result {
            case .success: added += 1
            case .failure(let error):
                guard error.serverError?.message.contains("equal or smaller") == true else {
                    throw QueueError(.redis, "queue \(name): \(error)", cause: error)
                }
            }
        }
        return added
    }
}

extension QueueName {
    /// The stream that the jobs of a batch are added to.
    public func laneKey(_ batch: BatchID) -> String { "\(keyPrefix)lane:\(batch)" }
}
