import Files
import Glibc
import SystemPackage

/// What the kernel tells of memory, read from its files.
///
/// Which files there are depends on the kernel, its control groups (version 2, version 1, or both beside each other)
/// and on what a container shows of them. So nothing here fails: what cannot be read is nil, "the kernel does not say".
///
/// Source: `Documentation/admin-guide/cgroup-v2.rst`, `cgroup-v1/memory.rst` and `accounting/psi.rst` of Linux.
struct MemoryFiles: Sendable {
    private let root: FilePath

    /// Most bytes that are read of a file; the longest, `memory.stat`, has about 2 KB.
    private static let fileBytesMax = 64 << 10
    private static let mount = "sys/fs/cgroup"

    /// The files below a folder: `/`, or one where a test plays the kernel.
    init(root: FilePath = "/") { self.root = root }

    /// Memory of the machine.
    func machine() -> MachineMemory? { text("proc/meminfo").flatMap(MachineMemory.init) }

    /// The group that bounds the memory of this process: of its own group and the groups around it the one with the
    /// smallest limit; its own when none has a limit.
    ///
    /// Found anew with each call, because who runs a machine may move processes and change limits.
    ///
    /// - Returns: nil when the kernel or the container shows no groups for memory.
    func group() -> MemoryGroup? {
        groups().min { ($0.limit ?? .max) < ($1.limit ?? .max) }
    }

    /// How many processes of our own group the kernel has killed for want of memory; without groups, of the machine.
    ///
    /// Whosever limit it was: version 1 counts a kill only where the process was, not where the limit is.
    ///
    /// - Returns: nil when the kernel does not say.
    func kills() -> Int? {
        guard let own = groups().first else { return keyed("proc/vmstat")["oom_kill"] }
        return events(of: own)?.kills
    }

    /// Our own group and the groups around it, the nearest first; none when no groups for memory are shown.
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

    /// What the processes of a group use now.
    func use(of group: MemoryGroup) -> MemoryUse? {
        guard let used = number("\(group.folder)/\(group.version.usage)") else { return nil }
        let statistics = keyed("\(group.folder)/memory.stat")
        return MemoryUse(
            bytes: used, cacheBytes: min(used, statistics[group.version.inactiveCache] ?? 0))
    }

    /// How often a group came to its limit since it exists.
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

    /// How long tasks waited for memory: those of this process's group where the kernel counts it by group, else those
    /// of the machine.
    func pressure() -> MemoryPressure? {
        let unified = text("proc/self/cgroup").flatMap { GroupPaths($0).unified }
        let own = [Self.mount, "\(Self.mount)/unified"].compactMap { mount in
            unified.flatMap { lineage($0, below: mount).first }
        }
        for folder in own {
            // The root of all groups counts the whole machine; it has no events of its own.
            let isOfGroup = exists("\(folder)/cgroup.events")
            if let pressure = text("\(folder)/memory.pressure")
                .flatMap({ MemoryPressure($0, isOfGroup: isOfGroup) })
            {
                return pressure
            }
        }
        return text("proc/pressure/memory").flatMap { MemoryPressure($0) }
    }

    /// The folders of a group and of the groups around it, the nearest first, as far as the mount shows them.
    ///
    /// Where a container shows its own group as the root, the path that the kernel tells is not there.
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
            return nil  // a folder, or the kernel does not say
        }
    }

    private func open(_ file: String) -> OpenFile? {
        // Not there, or not for us to read: the kernel does not say.
        try? OpenFile(opening: root.pushing(FilePath(file)).string, O_RDONLY)
    }
}
