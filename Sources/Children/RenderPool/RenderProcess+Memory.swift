import Files
import FoundationEssentials
import Glibc

extension RenderProcess {
    /// The memory that a process holds, in bytes.
    struct Memory: Sendable {
        /// Its resident set.
        var resident = 0
        /// The part that the process does not share: without libraries, which all children share.
        var own = 0
    }

    /// The memory that the child holds now; zero after it has ended.
    var memory: Memory {
        // This file is absent if the process has just ended.
        guard let pid, let text = try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)
        else { return Memory() }
        return Memory(statm: text)
    }

    /// Lets the kernel kill a process first when memory is short (proc(5), oom_score_adj, 1000).
    ///
    /// A child does so itself when it confines itself. Until then its start may bring a memory group to its limit, and the
    /// kernel would take the largest process: the worker.
    static func letKernelKillFirst(_ pid: pid_t) {
        // The process has ended, or the kernel does not permit it; then the child's own setting counts alone.
        guard let file = try? OpenFile(opening: "/proc/\(pid)/oom_score_adj", O_WRONLY) else {
            return
        }
        // Refused if the process has ended meanwhile.
        try? Descriptor.write(file.descriptor, Array("1000".utf8))
    }
}

extension RenderProcess.Memory {
    /// Parses `/proc/PID/statm`: size, resident, shared … in pages. Source: `proc(5)`.
    init(statm text: String) {
        let pages = text.split(separator: " ").map { Int($0) ?? 0 }
        guard pages.count >= 3 else { return }
        let page = Int(getpagesize())
        resident = pages[1] * page
        own = max(0, pages[1] - pages[2]) * page
    }
}
