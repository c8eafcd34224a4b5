package import Edits
package import JobQueue

/// Adds members to the stream of a batch in calls of bounded size. One call is in progress while the next one is prepared.
///
/// A value must be used by one task at a time. A call whose reply was lost is repeated, and adds no member twice.
package struct MemberSender: Sendable {
    /// The maximum total size of edits and paths in one call, in bytes.
    package static let chunkBytesMax = 4 << 20
    /// The number of attempts of a call if the connection is lost.
    private static let triesMax = 5

    /// The number of members passed to calls so far, including calls in progress, counted from the first member of the batch.
    package private(set) var sent: Int
    /// The number of members that were new to the stream, according to the replies so far.
    package private(set) var added = 0

    private let batch: BatchID
    private let edit: String?
    private let queue: JobQueue
    private let limits: JobQueue.MemberLimits
    private var members: [JobQueue.Member] = []
    private var bytes = 0
    private var onItsWay: Task<Int, any Error>?

    /// - Parameters:
    ///   - edit: The edit of the batch as canonical JSON; nil accepts any edit of the batch.
    ///   - first: The number of the first member, from 0.
    ///   - limits: What the producer may store.
    package init(
        to batch: BatchID, editedBy edit: String?, from first: Int,
        within limits: JobQueue.MemberLimits = JobQueue.MemberLimits(), on queue: JobQueue
    ) {
        self.limits = limits
        self.batch = batch
        self.edit = edit
        self.queue = queue
        sent = first
    }

    /// Adds a member. It waits if a call is full and the one before is still in progress.
    ///
    /// - Returns: Whether a call was sent.
    /// - Throws: ``MemberRefusal``, `QueueError`.
    @discardableResult
    package mutating func add(_ parsed: MemberParser.Parsed) async throws -> Bool {
        // By bytes: edits that name assets in two normal forms are equal as Swift's strings.
        let isOfBatch =
            parsed.edit.map { own in edit.map { own.utf8.elementsEqual($0.utf8) } ?? false } ?? true
        let ownEdit = isOfBatch ? nil : parsed.edit
        let size =
            parsed.asset.string.utf8.count + (ownEdit?.utf8.count ?? 0)
            + (parsed.fields?.json.utf8.count ?? 0)
        let isFull =
            members.count == JobQueue.membersMax || bytes + size > Self.chunkBytesMax
        if isFull { try await send() }
        members.append(
            JobQueue.Member(
                asset: parsed.asset, canonicalEdit: ownEdit, cost: parsed.cost,
                fields: parsed.fields))
        bytes += size
        return isFull
    }

    /// Sends the remaining members and waits for all replies.
    ///
    /// - Throws: As ``add(_:)``.
    package mutating func finish() async throws {
        if !members.isEmpty { try await send() }
        try await settle()
    }

    /// Asks whether members of this batch would be accepted, without sending one.
    ///
    /// - Throws: As ``add(_:)``.
    package static func ask(
        _ batch: BatchID, editedBy edit: String?, on queue: JobQueue
    ) async throws {
        _ = try await add([], 0, to: batch, edit, JobQueue.MemberLimits(), queue)
    }

    private mutating func settle() async throws {
        let task = onItsWay
        onItsWay = nil
        added += try await task?.value ?? 0
    }

    private mutating func send() async throws {
        try await settle()
        let (chunk, first, batch, edit, limits, queue) = (members, sent, batch, edit, limits, queue)
        onItsWay = Task { try await Self.add(chunk, first, to: batch, edit, limits, queue) }
        sent += chunk.count
        members.removeAll(keepingCapacity: true)
        bytes = 0
    }

    private static func add(
        _ members: [JobQueue.Member], _ first: Int, to batch: BatchID, _ edit: String?,
        _ limits: JobQueue.MemberLimits, _ queue: JobQueue
    ) async throws -> Int {
        var tries = 0
        while true {
            do {
                let answer = try await queue.add(
                    members, to: batch, editedBy: edit, from: first, within: limits)
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

/// The error of a call none of whose members the stream accepted.
package struct MemberRefusal: Error {
    package let answer: JobQueue.Addition
    /// The number of members that were sent before.
    package let sent: Int
}

/// The lines of a list that are no jobs. They are told, and the other lines run.
package struct RefusedLines<Fault: Error>: Sendable {
    package struct Line: Sendable, CustomStringConvertible {
        package let line: Int
        package let error: Fault

        package var description: String { "line \(line): \(error)" }
    }

    private enum CodingKeys: String, CodingKey { case lines, count }

    package private(set) var lines: [Line] = []
    package private(set) var count = 0
    private let toldMax: Int

    /// - Parameter toldMax: The most lines that are told one by one; the rest are counted.
    package init(toldMax: Int = 1_000) { self.toldMax = toldMax }

    package var isEmpty: Bool { count == 0 }

    package mutating func add(_ error: Fault, line: Int) {
        count += 1
        if lines.count < toldMax { lines.append(Line(line: line, error: error)) }
    }

    /// Returns a sentence for each line, and one for those beyond `most`.
    package func sentences(atMost most: Int) -> [String] {
        let told = lines.prefix(most).map(\.description)
        return count > told.count ? told + ["… and \(count - told.count) more"] : told
    }
}

extension RefusedLines: Encodable where Fault: Encodable {}
extension RefusedLines.Line: Encodable where Fault: Encodable {}
