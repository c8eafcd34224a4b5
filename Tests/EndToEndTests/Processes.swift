import Foundation
import MinilabTesting

/// What the kernel says about a process.
struct ProcessState {
    let pid: pid_t
    let parent: pid_t
    /// `T` when it is stopped, `Z` when it has ended and nobody has asked how.
    let state: Character
    /// Processor time that it has used, without the kernel's for it, in hundredths of a second.
    let ticks: Int

    /// nil when there is no such process (any more): they come and go while we look.
    init?(_ pid: pid_t) {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let close = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[stat.index(after: close)...].dropFirst().split(separator: " ")
        guard fields.count > 11, let state = fields[0].first, let parent = pid_t(fields[1]),
            let ticks = Int(fields[11])
        else { return nil }
        self.pid = pid
        self.parent = parent
        self.state = state
        self.ticks = ticks
    }
}

/// The children of a process.
func processes(below parent: pid_t) -> [ProcessState] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.compactMap { ProcessState($0) }
        .filter { $0.parent == parent }
}

/// Whether a process is there and has not ended.
func isRunning(_ pid: pid_t) -> Bool {
    ProcessState(pid).map { $0.state != "Z" } ?? false
}

/// A process, or a child of it, that has stopped itself.
func stoppedProcess(of pid: pid_t, except other: pid_t? = nil) -> pid_t? {
    let all = [ProcessState(pid)].compactMap(\.self) + processes(below: pid)
    return all.first { $0.state == "T" && $0.pid != other }?.pid
}

/// Where a worker's status port is, from its log: text or JSON.
func statusPort(of worker: MinilabProcess) async throws -> Int {
    try await eventually("the status port listens") {
        worker.output.firstMatch(of: /status port listens address=127\.0\.0\.1:([0-9]+)/)
            .flatMap { Int($0.1) }
    }
}

extension Rig {
    /// Waits until a worker or its render child has stopped itself at its point.
    func processThatStopped(of worker: MinilabProcess) async throws -> pid_t {
        try await eventually("a process stops at its point") { stoppedProcess(of: worker.pid) }
    }
}

/// Waits until a gateway with `--port 0` is ready, and returns its port. It listens before it has heard of the keys of its clients.
func portOfReady(_ gateway: MinilabProcess) async throws -> Int {
    let port = try await eventually("the gateway listens") {
        gateway.output.firstMatch(of: /listens on http:\/\/127\.0\.0\.1:(\d+)/)
            .flatMap { Int($0.1) }
    }
    try await eventually("the gateway is ready") {
        try await HTTPExchange.get("/readyz", port: port).status == 200 ? true : nil
    }
    return port
}
