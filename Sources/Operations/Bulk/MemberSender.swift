package import Adjustments
package import JobQueue

/// Adds members to the lane of a batch in calls of bounded size: one is on its way while the next is gathered.
///
/// Not for several tasks at a time. A call whose reply was lost is repeated, and adds nothing twice.
package struct MemberSender: Sendable {
    /// Most bytes of edits and paths that travel in one call.
    package static let chunkBytesMax = 4 << 20
    /// How often a call is sent again when the connection is lost.
    private static let triesMax = 5

    /// How many members were given to calls so far, those that are on their way included; counted from the batch's first.
    package private(set) var sent: Int
    /// How many of them the lane did not have before, as far as calls were answered.
    package private(set) var added = 0

    private let batch: BatchID
    private let edit: String?
    private let queue: JobQueue
    private var members: [JobQueue.Member] = []
    private var bytes = 0
    private var onItsWay: Task<Int, any Error>?

    /// - Parameters:
    ///   - edit: the batch's edit as canonical JSON; nil means whichever it has.
    ///   - first: the number of the first member, from 0.
    package init(to batch: BatchID, editedBy edit: String?, from first: Int, on queue: JobQueue) {
        self.batch = batch
        self.edit = edit
        self.queue = queue
        sent = first
    }

    /// Takes one more; waits when a call is full and the one before is not answered.
    ///
    /// - Returns: whether a call was sent.
    /// - Throws: ``MemberRefusal``, `QueueError`.
    @discardableResult
    package mutating func add(_ parsed: MemberParser.Parsed) async throws -> Bool {
        let ownEdit = parsed.edit == edit ? nil : parsed.edit
        let size = parsed.asset.string.utf8.count + (ownEdit?.utf8.count ?? 0)
        let isFull =
            members.count == JobQueue.membersMax || bytes + size > Self.chunkBytesMax
        if isFull { try await send() }
        members.append(
            JobQueue.Member(asset: parsed.asset, canonicalEdit: ownEdit, cost: parsed.cost))
        bytes += size
        return isFull
    }

    /// Sends the rest and waits until all is answered.
    ///
    /// - Throws: as ``add(_:)``.
    package mutating func finish() async throws {
        if !members.isEmpty { try await send() }
        try await settle()
    }

    /// Asks whether members of this batch would be taken, without giving one.
    ///
    /// - Throws: as ``add(_:)``.
    package static func ask(
        _ batch: BatchID, editedBy edit: String?, on queue: JobQueue
    ) async throws {
        _ = try await add([], 0, to: batch, edit, queue)
    }

    private mutating func settle() async throws {
        let task = onItsWay
        onItsWay = nil
        added += try await task?.value ?? 0
    }

    private mutating func send() async throws {
        try await settle()
        let (chunk, first, batch, edit, queue) = (members, sent, batch, edit, queue)
        onItsWay = Task { try await Self.add(chunk, first, to: batch, edit, queue) }
        sent += chunk.count
        members.removeAll(keepingCapacity: true)
        bytes = 0
    }

    private static func add(
        _ members: [JobQueue.Member], _ first: Int, to batch: BatchID, _ edit: String?,
        _ queue: JobQueue
    ) async throws -> Int {
        var tries = 0
        while true {
            do {
                let answer = try await queue.add(members, to: batch, editedBy: edit, from: first)
                if case .added(let count) = answer { return count }
                throw MemberRefusal(answer: answer, sent: first)
            } catch let error as QueueError {
                tries += 1
                guard tries < triesMax, error.code == .redis, !error.isRedisFull else {
                    throw error
                }
            }
        }
    }
}

/// The lane of a batch took none of the members of a call.
package struct MemberRefusal: Error {
    /// Why; never `added`.
    package let answer: JobQueue.Addition
    /// How many members were sent before.
    package let sent: Int
}
