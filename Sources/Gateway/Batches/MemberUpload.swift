import AccessKeys
import Adjustments
import HTTPTypes
import Hummingbird
import JobQueue
import Operations

/// An upload of the jobs of a batch, one a line, which adds them to the batch's stream as they arrive.
///
/// The next part of the body is read only after the stream has stored the one before, so TCP slows the client down. If
/// the body breaks off, the members stored so far stay, and the client continues at ``Taken/next``.
struct MemberUpload {
    /// The result of an upload.
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

    /// - Throws: `gap`, `batchClosed`, `conflict`, `notFound`, `storedFull`, `bodyTooLarge`; the fault of a line, with its number and the number at which to
    ///   continue.
    func receive(_ body: RequestBody) async throws -> Receipt {
        var (upload, bytes) = (self, 0)
        do {
            for try await chunk in body {
                bytes += chunk.readableBytes
                if bytes > bytesMax { try await upload.add([], upload.tooLong) }
                let (members, fault) = upload.read(chunk)
                try await upload.add(members, fault)
                // Parts that have already arrived are read without suspension, so smaller requests would wait for all
                // of them.
                await Task.yield()
            }
            let (members, fault) = upload.readLast()
            try await upload.add(members, fault)
            try await upload.sender.finish()
        } catch let error as MemberRefusal {
            throw Self.problem(error, batch)
        }
        return Receipt(next: upload.sender.sent, added: upload.sender.added)
    }

    private struct Fault: Error {
        let line: Int
        let problem: Problem
    }

    /// The fault of a body that is too long. The lines before its end are taken.
    private var tooLong: Fault {
        Fault(line: splitter.lines + 1, problem: Problem(BodyRefusal.oversized(bytesMax: bytesMax)))
    }

    private mutating func read(_ chunk: ByteBuffer) -> ([MemberParser.Parsed], Fault?) {
        var members: [MemberParser.Parsed] = []
        var splitter = splitter
        defer { self.splitter = splitter }
        do {
            try splitter.append(chunk) { bytes, line in
                if let member = try parse(bytes, line) { members.append(member) }
            }
        } catch {
            return (members, error as? Fault)
        }
        return (members, nil)
    }

    private mutating func readLast() -> ([MemberParser.Parsed], Fault?) {
        var members: [MemberParser.Parsed] = []
        var splitter = splitter
        defer { self.splitter = splitter }
        do {
            try splitter.finish { bytes, line in
                if let member = try parse(bytes, line) { members.append(member) }
            }
        } catch {
            return (members, error as? Fault)
        }
        return (members, nil)
    }

    private mutating func parse(
        _ bytes: UnsafeRawBufferPointer?, _ line: Int
    ) throws(Fault) -> MemberParser.Parsed? {
        do {
            guard let parsed = try parser.parse(bytes, line: line) else { return nil }
            try border.check(parsed.asset)
            if let edit = parsed.edit {
                try border.check(edit)
            } else if !hasEdit {
                throw Failure(.missingField, "edit is missing, and the batch is not open.")
            }
            return parsed
        } catch {
            throw Fault(line: line, problem: Problem(error))
        }
    }

    /// Sends the members that were read; then throws the fault of the line that could not be read.
    private mutating func add(_ members: [MemberParser.Parsed], _ fault: Fault?) async throws {
        for member in members { try await sender.add(member) }
        guard let fault else { return }
        try await sender.finish()
        var problem = fault.problem
        problem.facts["line"] = .number(Double(fault.line))
        problem.facts["next"] = .number(Double(sender.sent))
        throw problem
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
        case .otherEdit: Problem(.conflict, "Batch \(batch) is there with another edit.")
        }
    }
}
