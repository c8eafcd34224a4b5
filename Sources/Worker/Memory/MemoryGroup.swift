import SystemPackage

/// A control group that bounds memory, and what bounds it.
struct MemoryGroup: Sendable, Equatable {
    /// Versions of the kernel's interface; their files have other names.
    enum Version: Sendable {
        case one, two

        /// Files with limits: the smallest counts. What is over `memory.high` is reclaimed at once, and who needs it
        /// is slowed down; so it is a limit, too.
        var limits: [String] {
            switch self {
            case .one: ["memory.limit_in_bytes"]
            case .two: ["memory.max", "memory.high"]
            }
        }

        /// The file with what is used.
        var usage: String {
            switch self {
            case .one: "memory.usage_in_bytes"
            case .two: "memory.current"
            }
        }

        /// The line of `memory.stat` with the page cache that nobody has used lately.
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
    /// In bytes; nil when it has none.
    let limit: Int?

    /// From here on a limit is none: version 1 writes "no limit" as 2^63 less a page.
    private static let limitMax = 1 << 60

    /// Reads a file with a limit.
    ///
    /// - Returns: bytes; nil for `max`, and for what is no limit of any machine.
    static func limit(_ text: String) -> Int? {
        guard let bytes = KernelText.number(text), bytes < limitMax else { return nil }
        return bytes
    }
}

/// The groups of a process, as `/proc/self/cgroup` tells them.
struct GroupPaths: Equatable {
    /// Of version 1's controller for memory.
    var memory: FilePath?
    /// Of version 2.
    var unified: FilePath?

    /// Reads lines such as `4:memory:/path` (version 1) and `0::/path` (version 2).
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

/// What the processes of a group use.
struct MemoryUse: Sendable, Equatable {
    /// All of it: memory of processes, page cache, buffers of sockets.
    let bytes: Int
    /// The part that is page cache which nobody has used lately: the kernel takes it back when it needs memory.
    let cacheBytes: Int

    /// What the kernel cannot simply take back. The kubelet evicts by the same number, its "working set".
    var heldBytes: Int { bytes - cacheBytes }
}

/// How often a group came to its limit since it exists.
struct MemoryEvents: Sendable, Equatable {
    /// Somebody needed memory that the limit did not leave, and the kernel had to take some back.
    let limitHits: Int
    /// Processes that the kernel killed for want of memory.
    let kills: Int
}
