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
/// A line that is no job stops no other: the answer names such lines after all others are stored, and they have no numbers.
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

    /// The most refused lines that an answer names.
    static let refusedMax = 100

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

    /// - Throws: `gap`, `batchClosed`, `conflict`, `notFound`, `storedFull`; the fault of the first refused line, with all refused
    ///   lines and the number at which to continue: `bodyTooLarge` for the line where the body exceeds its limit.
    func receive(_ body: RequestBody) async throws -> Receipt {
        var (upload, bytes) = (self, 0)
        do {
            for try await chunk in body {
                bytes += chunk.readableBytes
                if bytes > bytesMax {
                    upload.refused.add(
                        Problem(BodyRefusal.oversized(bytesMax: bytesMax)),
                        line: upload.splitter.lines + 1)
                    break
                }
                for member in upload.read(chunk) { try await upload.sender.add(member) }
                // Parts that have already arrived are read without suspension, so smaller requests would wait for all
                // of them.
                await Task.yield()
            }
            if bytes <= bytesMax {
                for member in upload.read(nil) { try await upload.sender.add(member) }
            }
            try await upload.sender.finish()
        } catch let error as MemberRefusal {
            throw Self.problem(error, batch)
        }
        if let problem = upload.problemOfLines { throw problem }
        return Receipt(next: upload.sender.sent, added: upload.sender.added)
    }

    /// Returns the members in the lines that a part of the body completes.
    ///
    /// - Parameter chunk: The part; nil at the end of the body.
    private mutating func read(_ chunk: ByteBuffer?) -> [MemberParser.Parsed] {
        var lines = LineSplitter()
        swap(&lines, &splitter)
        chunk?.withUnsafeReadableBytes { lines.append($0) }
        var members: [MemberParser.Parsed] = []
        while let read = lines.next(isLast: chunk == nil, { member($0, $1) }) {
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
            return nil
        }
    }

    /// The problem that names the refused lines; nil if there are none.
    private var problemOfLines: Problem? {
        guard let first = refused.lines.first else { return nil }
        var problem = first.error
        problem.facts["line"] = .number(Double(first.line))
        problem.facts["next"] = .number(Double(sender.sent))
        problem.facts["added"] = .number(Double(sender.added))
        problem.facts["refusedCount"] = .number(Double(refused.count))
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
        case .notOpen:
            Problem(
                .notFound, "There is no open batch \(batch). Open it first, then send its members.")
        case .overBytes(let stored, let most): .storedFull(stored, most)
        case .otherEdit: Problem(.conflict, "Batch \(batch) already exists with a different edit.")
        }
    }
}
