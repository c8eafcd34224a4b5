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

    /// Returns the memory of the machine.
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
