import Edits
import Files
import Glibc
import Operations
import SystemPackage

/// A file of jobs that can be read several times; standard input is copied to a file first.
final class JobFile {
    private let file: OpenFile

    var path: String { file.name }

    /// Opens a file; `-` is standard input.
    init(path: String) throws(Failure) {
        let source =
            path == "-"
            ? OpenFile(adopting: fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), name: "standard input")
            : try Self.open(path)
        file = try source.isRegular() ? source : Self.spool(source)
    }

    /// Returns a reader of the jobs.
    ///
    /// - Parameter haveEdit: whether a line without an edit has that of the command.
    func members(haveEdit: Bool) -> MemberLines {
        MemberLines(LineReader(file), haveEdit: haveEdit)
    }

    func digest() throws(Failure) -> String { try FileDigest.sha256(of: file).hex }

    static func open(_ path: String) throws(Failure) -> OpenFile {
        try saying("\(path) cannot be opened", OpenFile(opening: path, O_RDONLY))
    }

    private static let blockBytes = 1 << 20

    /// Copies an input that can be read only once to a nameless file, which disappears with the process.
    private static func spool(_ source: OpenFile) throws(Failure) -> OpenFile {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        let unkept = "\(source.name) cannot be kept in \(folder)"
        let file = try saying(
            unkept, OpenFile(namelessIn: folder, name: source.name),
            advice: " Set TMPDIR to a folder with room, or give a file.")
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockBytes, alignment: 16)
        defer { block.deallocate() }
        while true {
            let count = try saying(
                "\(source.name) cannot be read", Descriptor.read(source.descriptor, into: block))
            if count == 0 { return file }
            try saying(
                unkept, Descriptor.write(file.descriptor, .init(rebasing: block[..<count])))
        }
    }

    private static func saying<Result>(
        _ sentence: String, _ call: @autoclosure () throws(Errno) -> Result, advice: String = ""
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch {
            throw Failure(.ioFailure, "\(sentence): \(error).\(advice)")
        }
    }
}

/// A reader of the jobs of a file: each pass over the file finds the same jobs and refuses the same lines.
struct MemberLines {
    enum Line {
        case member(MemberParser.Parsed)
        case refused(line: Int, Failure)
    }

    private let lines: LineReader
    private let haveEdit: Bool
    private var parser = MemberParser()

    init(_ lines: LineReader, haveEdit: Bool) { (self.lines, self.haveEdit) = (lines, haveEdit) }

    /// Returns the next line; nil at the end of the file.
    mutating func next() throws -> Line? {
        while let line = try lines.next({ line($0, $1) }) {
            if let line { return line }
        }
        return nil
    }

    /// Reads a line; nil for an empty one.
    private mutating func line(_ bytes: UnsafeRawBufferPointer?, _ number: Int) -> Line? {
        do throws(Failure) {
            guard let member = try parser.parse(bytes, line: number) else { return nil }
            guard member.edit != nil || haveEdit else {
                throw Failure(
                    .missingField,
                    "job.edit is missing; give it in the line, or for all lines with --filter or --edit."
                )
            }
            return .member(member)
        } catch {
            return .refused(line: number, error)
        }
    }

    mutating func nextMember() throws -> MemberParser.Parsed? {
        while let line = try next() {
            if case .member(let member) = line { return member }
        }
        return nil
    }
}

/// A reader of the lines of a file of any length in bounded memory. Not for use by several tasks at a time.
final class LineReader {
    private let file: OpenFile
    private var splitter: LineSplitter
    private var block = [UInt8](repeating: 0, count: 1 << 20)
    private var position = 0
    private let end: Int
    private var isAtEnd = false

    /// - Parameter bytesMax: the number of bytes that are read, whatever the file has by then.
    init(
        _ file: OpenFile, lineBytesMax: Int = ContractLimits.jobBytesMax, bytesMax: Int = .max
    ) {
        self.file = file
        end = bytesMax
        splitter = LineSplitter(lineBytesMax: lineBytesMax)
    }

    /// Calls `body` with the next line and its number; nil at the end of the file. As ``LineSplitter/next(isLast:_:)``.
    func next<Result>(
        _ body: (UnsafeRawBufferPointer?, Int) throws -> Result
    ) throws -> Result? {
        while true {
            if let result = try splitter.next(isLast: isAtEnd, body) { return result }
            if isAtEnd { return nil }
            try block.withUnsafeMutableBytes { block in
                let room = UnsafeMutableRawBufferPointer(
                    rebasing: block[..<min(block.count, end - position)])
                let count = room.isEmpty ? 0 : try file.read(into: room, from: position)
                position += count
                isAtEnd = count == 0
                splitter.append(UnsafeRawBufferPointer(rebasing: block[..<count]))
            }
        }
    }
}

/// The facts about a file of jobs, collected in one pass before anything is sent.
struct JobSurvey {
    private(set) var jobs = 0
    /// The lines that are no jobs. They stop no other line.
    private(set) var refused = RefusedLines<Failure>()
    /// The declared cost of all jobs together; nil unless each job declares its cost.
    private(set) var cost: Int? = 0
    /// The edit of the most lines, if any line has one. A tie always gives the same edit, because a file that is sent
    /// again must name the same edit.
    var commonEdit: String? {
        counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }
    /// The number of different edits and of repeated assets. Only for a dry run, because it takes 16 bytes a line.
    private(set) var details: Details?

    struct Details {
        let edits: Int
        let repeatedAssets: Int
    }

    /// The most faulty lines that are named on a terminal; the rest are counted.
    static let problemsMax = 20
    /// Different edits that are counted at a time. An edit that more than one line in this number has is certainly
    /// found. Source: Misra and Gries, "Finding repeated elements", 1982.
    private static let countersMax = 256
    private var counts: [String: Int] = [:]

    /// - Parameters:
    ///   - batchEdit: the edit of lines without their own, as canonical JSON; nil for none.
    ///   - batchCost: the cost of a job whose line declares none.
    init(
        _ file: JobFile, batchEdit: String?, batchCost: Int?, inDetail: Bool = false
    ) throws {
        var lines = file.members(haveEdit: batchEdit != nil)
        var assetHashes: [Int] = []
        var editHashes: [Int] = []
        while let line = try lines.next() {
            let parsed: MemberParser.Parsed
            switch line {
            case .member(let member): parsed = member
            case .refused(let number, let error):
                refused.add(error, line: number)
                continue
            }
            jobs += 1
            let jobCost = parsed.cost ?? batchCost
            cost = jobCost.flatMap { added in cost.map { $0 + added } }
            if let edit = parsed.edit { count(edit) }
            if inDetail {
                assetHashes.append(parsed.asset.string.hashValue)
                editHashes.append((parsed.edit ?? batchEdit ?? "").hashValue)
            }
        }
        if inDetail {
            details = Details(
                edits: Self.distinct(&editHashes),
                repeatedAssets: assetHashes.count - Self.distinct(&assetHashes))
        }
    }

    private mutating func count(_ edit: String) {
        if counts[edit] != nil || counts.count < Self.countersMax {
            counts[edit, default: 0] += 1
        } else {
            counts = counts.compactMapValues { $0 > 1 ? $0 - 1 : nil }
        }
    }

    /// Returns the number of different hashes. With 64 bits, two of ten million different values collide with a
    /// probability of 1 in 370,000.
    private static func distinct(_ hashes: inout [Int]) -> Int {
        hashes.sort()
        var count = 0
        for index in hashes.indices where index == 0 || hashes[index] != hashes[index - 1] {
            count += 1
        }
        return count
    }

    func check(_ path: String) throws {
        guard (1...ContractLimits.batchJobsMax).contains(jobs) else {
            throw UnusableJobs(
                path: path, verb: "sent",
                problems: refused.sentences(atMost: Self.problemsMax) + [
                    "it has \(jobs) jobs; a batch has 1 to \(ContractLimits.batchJobsMax)."
                ])
        }
    }
}

/// The reason why nothing of a file of jobs can be sent or run.
struct UnusableJobs: Error, CustomStringConvertible {
    let path: String
    let verb: String
    let problems: [String]

    var description: String {
        "\(path) cannot be \(verb); nothing was enqueued:"
            + problems.map { "\n  - " + $0 }.joined()
    }
}
