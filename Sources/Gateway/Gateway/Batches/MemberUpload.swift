import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import JobQueue
import NIOCore
import Operations

/// An upload of the jobs of a batch, one a line, which adds them to the batch's stream as they arrive.
///
/// The next part of the body is read only after the stream has stored the one before, so TCP slows the client down. If
/// the body breaks off, the members stored so far stay, and the client continues at ``Receipt/next``.
///
/// A line that is no job stops no other: the answer names such lines after all others are stored, and they have no numbers. Such lines
/// are paid for with the bytes that their key may bring a day, and after the ``refusedEndMax``th the body is read no further.
///
/// Parsing is what a body costs most, and nothing of it shows in the queue. So parts are parsed in turns by tenant, and no longer than
/// their client is there.
struct MemberUpload {
    struct Receipt: Encodable {
        /// The number of the first job that is not in the stream yet.
        let next: Int
        /// The number of jobs that were new to the stream.
        let added: Int
    }

    private let key: AccessKey
    private let batch: BatchID
    private let hasEdit: Bool
    private let bytesMax: Int
    private var sender: MemberSender
    private var parser = MemberParser()
    private var border: EditBorder
    private var splitter = LineSplitter()
    private var refused = RefusedLines<Problem>(toldMax: refusedMax)
    /// The bytes of refused lines, and those that are paid for.
    private var refusedBytes = 0
    private var paidBytes = 0

    /// The most refused lines that an answer names.
    static let refusedMax = 100
    /// The refused line after which no further one is read.
    static let refusedEndMax = 1_000
    /// The bytes that are parsed in one turn: a ms or less.
    private static let pieceBytes = 32 << 10
    /// The bytes that are paid for at a time.
    private static let paymentBytes = 64 << 10

    /// The values of its call that an upload needs.
    struct Border: Sendable {
        /// Runs the parsing of a part in the caller's turn.
        let permits: CallPermits
        /// Counts bytes to the day of the key.
        ///
        /// - Throws: `uploadQuota`.
        let pay: @Sendable (_ bytes: Int) async throws -> Void
        let isConnected: @Sendable () -> Bool
    }

    /// - Parameters:
    ///   - folder: the folder of the batch.
    ///   - edit: the batch's edit as canonical JSON; nil if it is not known yet.
    ///   - bytesMax: the maximum length of the body.
    init(
        to batch: BatchID, in folder: AssetPrefix, editedBy edit: String?, from first: Int,
        _ key: AccessKey, within limits: JobQueue.MemberLimits, bytesMax: Int, _ queue: JobQueue
    ) {
        self.bytesMax = bytesMax
        self.key = key
        self.batch = batch
        hasEdit = edit != nil
        sender = MemberSender(
            to: batch, editedBy: edit, from: first, within: limits, on: queue)
        border = EditBorder(key, folder)
    }

    /// - Throws: `gap`, `batchClosed`, `conflict`, `notFound`, `storedFull`; the fault of the first refused line, or `uploadQuota` where the
    ///   key cannot pay for refused ones, with all refused lines and the number at which to continue: `bodyTooLarge` for the line where the
    ///   body exceeds its limit.
    func receive(_ body: RequestBody, within call: Border) async throws -> Receipt {
        var (upload, bytes) = (self, 0)
        do {
            for try await var chunk in body {
                bytes += chunk.readableBytes
                if bytes > bytesMax {
                    upload.refused.add(
                        Problem(BodyRefusal.oversized(bytesMax: bytesMax)),
                        line: upload.splitter.lines + 1)
                    break
                }
                while let piece = chunk.readSlice(
                    length: min(Self.pieceBytes, chunk.readableBytes)), piece.readableBytes > 0
                {
                    try await upload.take(piece, call)
                }
                if upload.hasEnded { break }
            }
            if bytes <= bytesMax, !upload.hasEnded { try await upload.take(nil, call) }
            try await upload.sender.finish()
        } catch let error as MemberRefusal {
            throw Self.problem(error, batch)
        }
        if let problem = upload.problemOfLines { throw problem }
        return Receipt(next: upload.sender.sent, added: upload.sender.added)
    }

    /// The refusal of a payment for refused lines; nil while they are paid.
    private var unpaid: Problem?

    /// Whether no further line is read.
    private var hasEnded: Bool { unpaid != nil || refused.count >= Self.refusedEndMax }

    /// Parses a part of the body in the caller's turn, and sends the members in it.
    ///
    /// - Parameter piece: The part; nil at the end of the body.
    private mutating func take(_ piece: ByteBuffer?, _ call: Border) async throws {
        // A body whose client is gone is not worth a turn.
        guard call.isConnected() else { throw BodyRefusal.broken("the connection has ended") }
        let members = try await call.permits.reading(of: key) { read(piece) }
        for member in members { try await sender.add(member) }
        while paidBytes < refusedBytes, unpaid == nil {
            do {
                try await call.pay(Self.paymentBytes)
                paidBytes += Self.paymentBytes
            } catch let problem as Problem where problem.code == ProblemCode.uploadQuota.rawValue {
                unpaid = problem
            }
        }
    }

    /// Returns the members in the lines that a part of the body completes.
    ///
    /// - Parameter chunk: The part; nil at the end of the body.
    private mutating func read(_ chunk: ByteBuffer?) -> [MemberParser.Parsed] {
        var lines = LineSplitter()
        swap(&lines, &splitter)
        chunk?.withUnsafeReadableBytes { lines.append($0) }
        var members: [MemberParser.Parsed] = []
        while !hasEnded, let read = lines.next(isLast: chunk == nil, { member($0, $1) }) {
            if let read { members.append(read) }
        }
        splitter = lines
        return members
    }

    /// Reads a line; nil for an empty one and for one that is refused.
    private mutating func member(
        _ bytes: UnsafeRawBufferPointer?, _ line: Int
    ) -> MemberParser.Parsed? {
        do {
            return try parse(bytes, line)
        } catch {
            refused.add(Problem(error), line: line)
            // Of a line that is too long, nothing is kept.
            refusedBytes += 1 + (bytes?.count ?? ContractLimits.jobBytesMax)
            return nil
        }
    }

    /// The problem that names the refused lines; nil if there are none.
    private var problemOfLines: Problem? {
        guard let first = refused.lines.first else { return nil }
        var problem = unpaid ?? first.error
        problem.facts["line"] = .number(Double(first.line))
        problem.facts["next"] = .number(Double(sender.sent))
        problem.facts["added"] = .number(Double(sender.added))
        problem.facts["refusedCount"] = .number(Double(refused.count))
        problem.facts["linesRead"] = .number(Double(splitter.lines))
        problem.facts["refused"] = .array(
            refused.lines.map {
                .object([
                    "line": .number(Double($0.line)), "code": .string($0.error.code),
                    "detail": .string($0.error.detail.printable),
                ])
            })
        return problem
    }

    private mutating func parse(
        _ bytes: UnsafeRawBufferPointer?, _ line: Int
    ) throws -> MemberParser.Parsed? {
        guard let parsed = try parser.parse(bytes, line: line) else { return nil }
        try border.check(parsed.asset)
        if let edit = parsed.edit {
            try border.check(edit)
        } else if !hasEdit {
            throw Failure(.missingField, "edit is missing, and the batch is not open.")
        }
        return parsed
    }

    static func notOpen(_ batch: BatchID) -> Problem {
        Problem(
            .notFound, "There is no open batch \(batch). Open it first, then send its members.")
    }

    private static func problem(_ refusal: MemberRefusal, _ batch: BatchID) -> Problem {
        switch refusal.answer {
        case .added:
            Problem(.internalError, "The stream of batch \(batch) gave an unexpected answer.")
        case .gap(let had):
            Problem(
                .gap,
                "Batch \(batch) has had \(had) jobs, and this upload begins at \(refusal.sent). Continue from \(had).",
                facts: ["next": .number(Double(had))])
        case .unnumbered(let had):
            Problem(
                .batchClosed,
                "Batch \(batch) takes no more members: another producer sent its stream an XADD with an id of its own, so nobody knows which members are new. Its \(had) entries become jobs; seal it at \(had), and send the rest in another batch.",
                facts: ["next": .number(Double(had))])
        case .cancelled:
            Problem(.batchClosed, "Batch \(batch) was cancelled and takes no more jobs.")
        case .sealed(let jobs):
            Problem(
                .batchClosed, "Batch \(batch) is sealed at \(jobs) jobs; some of these are beyond.",
                facts: ["sealed": .number(Double(jobs))])
        case .nameUsed:
            Problem(
                .conflict,
                "A batch \(batch) has ended, and its name is remembered. Take another name.")
        case .notOpen: notOpen(batch)
        case .overBytes(let stored, let most): .storedFull(stored, most)
        case .otherEdit: Problem(.conflict, "Batch \(batch) already exists with a different edit.")
        }
    }
}
