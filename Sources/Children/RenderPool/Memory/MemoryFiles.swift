import Files
import Glibc
import SystemPackage

/// The kernel's figures about memory, read from its files.
///
/// The set of files depends on the kernel, its control groups (version 2, version 1, or both), and the files that a
/// container exposes. So nothing here fails: an unreadable value is nil, which means "the kernel does not report
/// it".
///
/// Source: `Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/memory.rst` and `accounting/psi.rst` of Linux.
struct MemoryFiles: Sendable {
    private let root: FilePath

    /// The most bytes that are read of a file; the longest, `memory.stat`, has about 2 KB.
    private static let fileBytesMax = 64 << 10
    private static let mount = "sys/fs/cgroup"

    /// Creates a reader of the files below a folder: `/`, or the folder of a test with simulated files.
    init(root: FilePath = "/") { self.root = root }

    func machine() -> MachineMemory? { text("proc/meminfo").flatMap(MachineMemory.init) }

    /// Returns the group that bounds the memory of this process: the one with the smallest limit among its own
    /// group and that group's ancestors, or its own if none has a limit.
    ///
    /// It is determined again with each call, because operators may move processes and change limits.
    ///
    /// - Returns: nil if the kernel or the container exposes no groups for memory.
    func group() -> MemoryGroup? {
        groups().min { ($0.limit ?? .max) < ($1.limit ?? .max) }
    }

    /// Returns how many processes of the worker's own group the kernel has killed for lack of memory; without
    /// groups, of the machine.
    ///
    /// It counts kills for the limit of any group: version 1 counts a kill only in the group of the process, not in
    /// the group with the limit.
    ///
    /// - Returns: nil if the kernel does not report it.
    func kills() -> Int? {
        guard let own = groups().first else { return keyed("proc/vmstat")["oom_kill"] }
        return events(of: own)?.kills
    }

    /// Returns the own group and its ancestors, the nearest first; empty if no groups for memory are exposed.
    private func groups() -> [MemoryGroup] {
        guard let paths = text("proc/self/cgroup").map(GroupPaths.init) else { return [] }
        let candidates = [
            paths.memory.map { (MemoryGroup.Version.one, "\(Self.mount)/memory", $0) },
            paths.unified.map { (.two, Self.mount, $0) },
            paths.unified.map { (.two, "\(Self.mount)/unified", $0) },
        ].compactMap(\.self)
        for (version, mount, path) in candidates {
            let groups = lineage(path, below: mount)
                .filter { exists("\($0)/\(version.usage)") }
                .map { MemoryGroup(version: version, folder: $0, limit: limit(of: $0, version)) }
            if !groups.isEmpty { return groups }
        }
        return []
    }

    /// Returns the memory that the processes of a group use now.
    func use(of group: MemoryGroup) -> MemoryUse? {
        guard let used = number("\(group.folder)/\(group.version.usage)") else { return nil }
        let statistics = keyed("\(group.folder)/memory.stat")
        return MemoryUse(
            bytes: used, cacheBytes: min(used, statistics[group.version.inactiveCache] ?? 0))
    }

    /// Returns how often a group has reached its limit since its creation.
    func events(of group: MemoryGroup) -> MemoryEvents? {
        switch group.version {
        case .one:
            guard let hits = number("\(group.folder)/memory.failcnt") else { return nil }
            return MemoryEvents(
                limitHits: hits, kills: keyed("\(group.folder)/memory.oom_control")["oom_kill"] ?? 0
            )
        case .two:
            let events = keyed("\(group.folder)/memory.events")
            guard let hits = events["max"] else { return nil }
            return MemoryEvents(
                limitHits: hits + (events["high"] ?? 0), kills: events["oom_kill"] ?? 0)
        }
    }

    /// Returns how long tasks have waited for memory: those of this process's group if the kernel counts by group,
    /// otherwise those of the machine.
    func pressure() -> MemoryPressure? {
        let unified = text("proc/self/cgroup").flatMap { GroupPaths($0).unified }
        let own = [Self.mount, "\(Self.mount)/unified"].compactMap { mount in
            unified.flatMap { lineage($0, below: mount).first }
        }
        for folder in own {
            // The root group counts the whole machine. It has no `cgroup.events`.
            let isOfGroup = exists("\(folder)/cgroup.events")
            if let pressure = text("\(folder)/memory.pressure")
                .flatMap({ MemoryPressure($0, isOfGroup: isOfGroup) })
            {
                return pressure
            }
        }
        return text("proc/pressure/memory").flatMap { MemoryPressure($0) }
    }

    /// Returns the folders of a group and its ancestors, the nearest first, as far as the mount exposes them.
    ///
    /// Where a container exposes its own group as the root, the path in `/proc/self/cgroup` does not exist.
    private func lineage(_ path: FilePath, below mount: String) -> [FilePath] {
        var folders: [FilePath] = []
        var path = FilePath(mount).pushing(FilePath(root: nil, path.components))
        let end = FilePath(mount).components.count
        guard path == path.lexicallyNormalized(), exists(path.string) else {
            return exists(mount) ? [FilePath(mount)] : []
        }
        while path.components.count >= end {
            folders.append(path)
            path.removeLastComponent()
        }
        return folders
    }

    private func limit(of folder: FilePath, _ version: MemoryGroup.Version) -> Int? {
        version.limits.compactMap { text("\(folder)/\($0)").flatMap(MemoryGroup.limit) }.min()
    }

    private func number(_ file: String) -> Int? { text(file).flatMap(KernelText.number) }

    private func keyed(_ file: String) -> [String: Int] {
        text(file).map(KernelText.keyed) ?? [:]
    }

    private func exists(_ file: String) -> Bool { open(file) != nil }

    private func text(_ file: String) -> String? {
        guard let file = open(file) else { return nil }
        do throws(Errno) {
            return String(
                decoding: try Descriptor.bytes(file.descriptor, count: Self.fileBytesMax),
                as: UTF8.self)
        } catch {
            return nil  // a folder, or the kernel does not report it
        }
    }

    private func open(_ file: String) -> OpenFile? {
        // Missing or not readable: the kernel does not report it.
        try? OpenFile(opening: root.pushing(FilePath(file)).string, O_RDONLY)
    }
}

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

/// The time that tasks waited for memory ("pressure stall information").
struct MemoryPressure: Sendable, Equatable {
    /// The shares of time in which tasks were stalled.
    struct Stall: Sendable, Equatable {
        /// Over the last 10 s, in percent.
        let average10: Double
        /// Over the last 60 s, in percent.
        let average60: Double
        /// Over the last 300 s, in percent.
        let average300: Double
        /// The total since the creation of the group or the start of the machine.
        let total: Duration
    }

    /// The time in which at least one task was stalled.
    let some: Stall
    /// The time in which all non-idle tasks were stalled.
    let full: Stall
    /// Whether only tasks of the worker's control group are counted, not those of the whole machine.
    let isOfGroup: Bool

    /// Parses the kernel's text: `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, and the same for `full`.
    init?(_ text: String, isOfGroup: Bool = false) {
        var stalls: [Substring: Stall] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if let name = fields.first { stalls[name] = Stall(fields.dropFirst()) }
        }
        guard let some = stalls["some"], let full = stalls["full"] else { return nil }
        self.some = some
        self.full = full
        self.isOfGroup = isOfGroup
    }
}

extension MemoryPressure.Stall {
    /// Parses `avg10=0.00 avg60=0.00 avg300=0.00 total=0`; the total is in microseconds.
    fileprivate init?(_ words: some Sequence<Substring>) {
        var fields: [Substring: Substring] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        func percent(_ name: Substring) -> Double? {
            fields[name].flatMap { Double($0) }.flatMap { (0...100).contains($0) ? $0 : nil }
        }
        guard let average10 = percent("avg10"), let average60 = percent("avg60"),
            let average300 = percent("avg300"), let total = fields["total"].flatMap({ Int64($0) }),
            total >= 0
        else { return nil }
        self.init(
            average10: average10, average60: average60, average300: average300,
            total: .microseconds(total))
    }
}

/// The memory of the whole machine, in bytes.
struct MachineMemory: Sendable, Equatable {
    let total: Int
    /// The memory that processes could still get without swapping, by the kernel's own estimate.
    let available: Int

    /// Parses `/proc/meminfo`, with lines such as `MemTotal:       24684092 kB`.
    init?(_ text: String) {
        var lines: [Substring: Int] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(whereSeparator: { $0 == " " || $0 == ":" })
            if fields.count >= 2, let number = Int(fields[1]), (0..<1 << 50).contains(number) {
                lines[fields[0]] = number << 10
            }
        }
        guard let total = lines["MemTotal"], total > 0 else { return nil }
        self.total = total
        // Kernels before 3.14, and some sandboxes, do not report `MemAvailable`.
        available = min(total, lines["MemAvailable"] ?? lines["MemFree"] ?? 0)
    }
}

/// Parsers of the kernel's text formats.
enum KernelText {
    /// Parses a single number; nil for words, and for numbers outside 0 to 2^63 - 1.
    static func number(_ text: String) -> Int? {
        let line = text.prefix { $0 != "\n" }
        return Int(line).flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Parses lines such as `oom_kill 3`; other lines are ignored.
    static func keyed(_ text: String) -> [String: Int] {
        var numbers: [String: Int] = [:]
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count == 2, let number = number(String(fields[1])) {
                numbers[String(fields[0])] = number
            }
        }
        return numbers
    }
}
