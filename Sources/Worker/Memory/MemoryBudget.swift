import Adjustments

/// How many bytes the render children of one worker may use together, and who says so.
public struct MemoryBudget: Sendable, Equatable {
    /// The budget.
    public let bytes: Int
    /// Who says so.
    public let source: Source

    /// Where a budget comes from.
    public enum Source: Sendable, Equatable {
        /// The setting `memory`.
        case setting
        /// The limit of the control group, less what is in use and what is kept back.
        case group(limit: Int, held: Int)
        /// What the machine has available, less the share that is left to others.
        case machine(available: Int)
        /// Nobody: nothing is known, and nothing is bounded.
        case nobody
    }

    /// The memory of a child between small photos, with something to spare: one that held more could not be lent for the next
    /// one. 47 MB were seen of a release build and 55 MB of a debug build, of which 38 and 45 MB are code that all children
    /// share.
    public static let childBytes = 58 << 20
    /// The smallest budget: a photo of 24 MP by the cheapest lane needs 54 MB.
    public static let bytesMin = 64 << 20
    /// The largest that can be set.
    public static let bytesMax = 1 << 45

    /// Of a group's limit: the worker itself, at the least.
    static let workerBytes = 64 << 20
    /// Of a group's limit: what the worker and its neighbours in the group may grow by.
    static let growthBytes = 32 << 20
    /// Of a group's limit: page cache for the files that are read and written. The kernel counts it, takes it back when it
    /// has to, and slows everybody down with it.
    static let cacheShare = 0.125
    /// Of the machine's available memory: the rest is for page cache, and for whoever else comes.
    static let machineShare = 0.5

    /// A budget that bounds nothing.
    public static let unbounded = MemoryBudget(bytes: bytesMax, source: .nobody)

    init(bytes: Int, source: Source) {
        self.bytes = bytes
        self.source = source
    }

    /// Reads the kernel's files and decides.
    ///
    /// - Parameters:
    ///   - setting: what the operator says, in bytes; it is taken as it is.
    /// - Throws: `MemoryBudgetError` when no child would fit, or when nothing is known.
    init(setting: Int?, files: MemoryFiles) throws(MemoryBudgetError) {
        let group = files.group()
        try self.init(
            setting: setting, limit: group?.limit,
            held: group.flatMap(files.use)?.heldBytes ?? 0,
            available: files.machine()?.available)
    }

    /// Decides.
    ///
    /// - Parameters:
    ///   - limit: of the control group, or nil when it has none.
    ///   - held: what the processes of the group hold now, the worker included.
    ///   - available: what the machine has available, or nil when it does not say.
    init(
        setting: Int?, limit: Int?, held: Int, available: Int?
    ) throws(MemoryBudgetError) {
        let machine = available.map { available in
            MemoryBudget(
                bytes: Int(Double(available) * Self.machineShare),
                source: .machine(available: available))
        }
        let group = limit.map { limit in
            let others = max(held + Self.growthBytes, Self.workerBytes)
            let cache = Int(Double(limit) * Self.cacheShare)
            return MemoryBudget(
                bytes: limit - others - cache, source: .group(limit: limit, held: held))
        }
        let set = setting.map { MemoryBudget(bytes: $0, source: .setting) }
        guard
            let budget = set
                ?? [group, machine].compactMap(\.self).min(by: { $0.bytes < $1.bytes })
        else {
            throw MemoryBudgetError(problem: "the kernel does not say how much memory there is")
        }
        guard budget.bytes >= Self.bytesMin else {
            throw MemoryBudgetError(
                problem: "\(budget), and one child needs at least \(megabytes(Self.bytesMin))")
        }
        self = budget
    }
}

extension MemoryBudget: CustomStringConvertible {
    public var description: String {
        let reason =
            switch source {
            case .setting: "that is the setting memory"
            case .group(let limit, let held):
                "the control group's limit is \(megabytes(limit)), \(megabytes(held)) are in use, "
                    + "and the worker and the page cache need their part"
            case .machine(let available):
                "the machine has \(megabytes(available)) available, and half of it is left to others"
            case .nobody: "nothing bounds it"
            }
        return "\(megabytes(max(0, bytes))) for render children: \(reason)"
    }
}

/// Why a worker cannot start with the memory that there is.
public struct MemoryBudgetError: Error, CustomStringConvertible {
    let problem: String

    public var description: String {
        "\(problem). Give the worker more memory, or say with --memory how much its render children may use "
            + "together."
    }
}

/// For people; units of 1,000,000 bytes.
func megabytes(_ bytes: Int) -> String { "\((bytes + 500_000) / 1_000_000) MB" }
