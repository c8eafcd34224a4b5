import SystemPackage

/// A control group that bounds memory, and its limit.
struct MemoryGroup: Sendable, Equatable {
    /// The versions of the kernel's interface, whose files have different names.
    enum Version: Sendable {
        case one, two

        /// The files with limits, of which the smallest counts. The kernel reclaims memory above `memory.high`
        /// immediately and slows down the process that needs it, so that value is a limit, too.
        var limits: [String] {
            switch self {
            case .one: ["memory.limit_in_bytes"]
            case .two: ["memory.max", "memory.high"]
            }
        }

        /// The file with the memory in use.
        var usage: String {
            switch self {
            case .one: "memory.usage_in_bytes"
            case .two: "memory.current"
            }
        }

        /// The line of `memory.stat` with the page cache that was not used recently.
        var inactiveCache: String {
            switch self {
            case .one: "total_inactive_file"
            case .two: "inactive_file"
            }
        }
    }

    let version: Version
    /// Its folder, below the root of ``MemoryFiles``.
    let folder: FilePath
    /// Its limit in bytes; nil if it has none.
    let limit: Int?

    /// The value from which on a limit counts as none: version 1 writes "no limit" as 2^63 minus a page.
    private static let limitMax = 1 << 60

    /// Parses a file with a limit.
    ///
    /// - Returns: the limit in bytes; nil for `max`, and for values that exceed any machine's memory.
    static func limit(_ text: String) -> Int? {
        guard let bytes = KernelText.number(text), bytes < limitMax else { return nil }
        return bytes
    }
}

/// The groups of a process, as listed in `/proc/self/cgroup`.
struct GroupPaths: Equatable {
    /// The group of version 1's memory controller.
    var memory: FilePath?
    /// The group of version 2.
    var unified: FilePath?

    /// Parses lines such as `4:memory:/path` (version 1) and `0::/path` (version 2).
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2].hasPrefix("/") else { continue }
            let path = FilePath(String(parts[2]))
            if parts[0] == "0", parts[1].isEmpty {
                unified = path
            } else if parts[1].split(separator: ",").contains("memory") {
                memory = path
            }
        }
    }
}

/// The memory that the processes of a group use.
struct MemoryUse: Sendable, Equatable {
    /// The total: memory of processes, page cache, buffers of sockets.
    let bytes: Int
    /// The page cache that was not used recently. The kernel reclaims it when it needs memory.
    let cacheBytes: Int

    /// The memory that the kernel cannot simply reclaim. The kubelet evicts by the same number, its "working set".
    var unreclaimableBytes: Int { bytes - cacheBytes }
}

/// How often a group has reached its limit since its creation.
struct MemoryEvents: Sendable, Equatable {
    /// The number of times that a process needed memory beyond the limit and the kernel had to reclaim some.
    let limitHits: Int
    /// The number of processes that the kernel killed for lack of memory.
    let kills: Int
}
