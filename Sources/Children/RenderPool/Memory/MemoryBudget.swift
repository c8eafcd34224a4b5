import Edits

/// The number of bytes that the render children of one worker may use together, and its source.
public struct MemoryBudget: Sendable, Equatable {
    /// The budget.
    public let bytes: Int
    /// The source of the budget.
    public let source: Source

    /// The sources of a budget.
    public enum Source: Sendable, Equatable {
        /// The setting `memory`.
        case setting
        /// The limit of the control group, minus the memory in use and the reserve.
        case group(limit: Int, used: Int)
        /// The available memory of the machine, minus the share for other processes.
        case machine(available: Int)
        /// No source: the available memory is unknown, and nothing is bounded.
        case nobody
    }

    /// The memory of an idle child between small photos, with a margin. A child that holds more could not be lent
    /// for the next photo. Measured: 47 MB for a release build and 55 MB for a debug build, of which 38 and 45 MB
    /// are code that all children share.
    public static let childBytes = 58 << 20
    /// The smallest budget: a photo of 24 MP needs 54 MB in the cheapest lane.
    public static let bytesMin = 64 << 20
    /// The largest budget that can be set.
    public static let bytesMax = 1 << 45

    /// The part of a group's limit that is reserved, at the least, for the worker itself.
    static let workerBytes = 64 << 20
    /// The part of a group's limit that is reserved for the growth of the worker and of its neighbours in the
    /// group.
    static let growthBytes = 32 << 20
    /// The share of a group's limit that is reserved for the page cache of the files that are read and written. The
    /// kernel counts the cache and reclaims it under pressure, which slows down all processes of the group.
    static let cacheShare = 0.125
    /// The share of the machine's available memory in the budget. The rest is for page cache and other processes.
    static let machineShare = 0.5

    /// A budget that bounds nothing.
    public static let unbounded = MemoryBudget(bytes: bytesMax, source: .nobody)

    init(bytes: Int, source: Source) {
        self.bytes = bytes
        self.source = source
    }

    /// Reads the kernel's files and decides the budget.
    ///
    /// - Parameters:
    ///   - setting: the operator's setting, in bytes; it is used unchanged.
    /// - Throws: `MemoryBudgetError` if no child would fit, or if the available memory is unknown.
    init(setting: Int?, files: MemoryFiles) throws(MemoryBudgetError) {
        let group = files.group()
        try self.init(
            setting: setting, limit: group?.limit,
            used: group.flatMap(files.use)?.unreclaimableBytes ?? 0,
            available: files.machine()?.available)
    }

    /// Decides the budget.
    ///
    /// - Parameters:
    ///   - limit: the limit of the control group; nil if it has none.
    ///   - used: the memory that the processes of the group use now, the worker included.
    ///   - available: the available memory of the machine; nil if the kernel does not report it.
    init(
        setting: Int?, limit: Int?, used: Int, available: Int?
    ) throws(MemoryBudgetError) {
        let machine = available.map { available in
            MemoryBudget(
                bytes: Int(Double(available) * Self.machineShare),
                source: .machine(available: available))
        }
        let group = limit.map { limit in
            let others = max(used + Self.growthBytes, Self.workerBytes)
            let cache = Int(Double(limit) * Self.cacheShare)
            return MemoryBudget(
                bytes: limit - others - cache, source: .group(limit: limit, used: used))
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
            case .group(let limit, let used):
                "the control group's limit is \(megabytes(limit)), \(megabytes(used)) are in use, "
                    + "and the worker and the page cache need their part"
            case .machine(let available):
                "the machine has \(megabytes(available)) available, and half of it is left to others"
            case .nobody: "nothing bounds it"
            }
        return "\(megabytes(max(0, bytes))) for render children: \(reason)"
    }
}

/// The reason why a worker cannot start with the available memory.
public struct MemoryBudgetError: Error, CustomStringConvertible {
    let problem: String

    public var description: String {
        "\(problem). Give the worker more memory, or say with --memory how much its render children may use "
            + "together."
    }
}

/// Formats a number of bytes for messages, in units of 1,000,000 bytes.
func megabytes(_ bytes: Int) -> String { "\((bytes + 500_000) / 1_000_000) MB" }
