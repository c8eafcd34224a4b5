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
