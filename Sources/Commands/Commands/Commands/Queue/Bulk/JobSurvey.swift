import Edits
import Operations

/// The facts about a file of jobs, collected in one pass before anything is sent.
struct JobSurvey {
    /// The number of jobs.
    private(set) var jobs = 0
    /// The lines that are no jobs. They stop no other line.
    private(set) var refused = RefusedLines()
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

    /// Throws an error if the file has no jobs, or too many.
    func check(_ path: String) throws {
        guard (1...ContractLimits.batchJobsMax).contains(jobs) else {
            throw JobFileError(
                path: path,
                problems: refused.sentences(atMost: Self.problemsMax) + [
                    "it has \(jobs) jobs; a batch has 1 to \(ContractLimits.batchJobsMax)."
                ])
        }
    }
}

/// The reason why nothing of a file of jobs can be sent.
struct JobFileError: Error, CustomStringConvertible {
    let path: String
    let problems: [String]

    var description: String {
        "\(path) cannot be sent; nothing was enqueued:"
            + problems.map { "\n  - " + $0 }.joined()
    }
}
