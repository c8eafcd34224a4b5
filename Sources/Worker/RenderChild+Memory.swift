import FoundationEssentials
import Glibc

extension RenderChild {
    /// What a process holds of the machine's memory, in bytes.
    struct Held: Sendable {
        /// Its resident set.
        var resident = 0
        /// The part that nobody else has: without libraries, which all children share.
        var own = 0
    }

    /// What the child holds now; nothing when it is gone.
    var held: Held {
        // A process that has just ended has no such file.
        guard let pid, let text = try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)
        else { return Held() }
        return Held(statm: text)
    }
}

extension RenderChild.Held {
    /// Reads `/proc/PID/statm`: size, resident, shared … in pages. Source: `proc(5)`.
    init(statm text: String) {
        let pages = text.split(separator: " ").map { Int($0) ?? 0 }
        guard pages.count >= 3 else { return }
        let page = Int(getpagesize())
        resident = pages[1] * page
        own = max(0, pages[1] - pages[2]) * page
    }
}
