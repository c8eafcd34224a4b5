import Adjustments
import Operations

/// What a file of jobs has, found in one pass before anything is sent.
struct JobSurvey {
    /// How many jobs.
    private(set) var jobs = 0
    /// What is wrong, by line; the first ``problemsMax`` of them.
    private(set) var problems: [String] = []
    /// How many lines are wrong.
    private(set) var problemCount = 0
    /// What all jobs together were said to cost; nil unless each says so.
    private(set) var cost: Int? = 0
    /// The edit that most lines have, if any has one; of equals always the same one, since a file that is sent again
    /// must name the same edit.
    var commonEdit: String? {
        counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }
    /// How many different edits the lines have, and how often an asset comes again; only for a dry run, because it
    /// takes 16 bytes a line.
    private(set) var details: Details?

    struct Details {
        let edits: Int
        let repeatedAssets: Int
    }

    /// Most wrong lines that are told.
    static let problemsMax = 20
    /// Different edits that are counted at a time. An edit that more than one in so many lines has is found for
    /// sure. Source: Misra and Gries, "Finding repeated elements", 1982.
    private static let countersMax = 256
    private var counts: [String: Int] = [:]

    /// - Parameters:
    ///   - batchEdit: what lines without an edit of their own mean, canonical; nil when nobody said.
    ///   - batchCost: what a job costs whose line says nothing.
    init(
        _ file: JobFile, batchEdit: String?, batchCost: Int?, inDetail: Bool = false
    ) throws {
        var parser = MemberParser()
        let lines = file.lines()
        var assetHashes: [Int] = []
        var editHashes: [Int] = []
        while let line = try lines.next() {
            let parsed: MemberParser.Parsed?
            do throws(Failure) {
                parsed = try parser.parse(line.bytes, line: line.number)
                if let parsed, parsed.edit == nil, batchEdit == nil {
                    throw Failure(
                        .missingField,
                        "job.edit is missing; give it in the line, or for all lines with --filter or --edit."
                    )
                }
            } catch {
                problemCount += 1
                if problems.count < Self.problemsMax {
                    problems.append("line \(line.number): \(error.message)")
                }
                continue
            }
            guard let parsed else { continue }
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

    /// 64-bit hashes: among ten million, two different ones are the same with a chance of 1 in 370,000.
    private static func distinct(_ hashes: inout [Int]) -> Int {
        hashes.sort()
        var count = 0
        for index in hashes.indices where index == 0 || hashes[index] != hashes[index - 1] {
            count += 1
        }
        return count
    }

    /// Throws when the file cannot be sent as it is, with all that is wrong.
    func check(_ path: String) throws {
        guard problemCount == 0 else {
            throw JobFileError(path: path, problems: problems, count: problemCount)
        }
        guard (1...ContractLimits.batchJobsMax).contains(jobs) else {
            throw JobFileError(
                path: path,
                problems: [
                    "it has \(jobs) jobs; a batch has 1 to \(ContractLimits.batchJobsMax)."
                ], count: 1)
        }
    }
}

/// What is wrong with a file of jobs.
struct JobFileError: Error, CustomStringConvertible {
    let path: String
    let problems: [String]
    let count: Int

    var description: String {
        "\(path) cannot be sent; nothing was enqueued:"
            + problems.map { "\n  - " + $0 }.joined()
            + (count > problems.count ? "\n  … and \(count - problems.count) more" : "")
    }
}
