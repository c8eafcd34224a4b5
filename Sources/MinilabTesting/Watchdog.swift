import Foundation

/// Kills a process when the test process ends, however that comes about.
///
/// A small shell reads from a socket whose other end only the test process has. A test process that
/// exits, crashes or is killed closes it, and the shell then kills the process and removes its
/// folder. `atexit` would not see a crash; the kernel's parent-death signal follows the thread that
/// started the child, and threads of a pool end early.
struct Watchdog: Sendable {
    private let shell: ChildProcess
    private let socket: CInt

    init(over process: ChildProcess, folder: String) throws {
        var ends: [CInt] = [0, 0]
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw TestingFailure("no socket pair: \(String(cString: strerror(errno)))")
        }
        defer { close(ends[1]) }
        let program = #"read word; [ "$word" = stop ] || { kill -9 "$1"; rm -rf -- "$2"; }"#
        do {
            shell = try ChildProcess(
                ["sh", "-c", program, "watchdog", String(process.pid), folder], input: ends[1])
        } catch {
            close(ends[0])
            throw error
        }
        socket = ends[0]
    }

    /// Ends the watch; call it once, when the process has ended.
    func stop() {
        let word = "stop\n"
        send(socket, word, word.utf8.count, CInt(MSG_NOSIGNAL))
        close(socket)
        var status: CInt = 0
        waitpid(shell.pid, &status, 0)
    }
}
