import Foundation

/// A process that kills another one when the test process exits for any reason.
///
/// A small shell reads from a socket whose other end only the test process has. When the test process exits, crashes or
/// is killed, the kernel closes that end, and the shell kills the process and removes its folder. `atexit` does not run
/// after a crash; the kernel's parent-death signal follows the thread that started the child, and threads of a pool
/// exit early.
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

    /// Stops the watchdog. Call it once, after the process has exited.
    func stop() {
        let order = "stop\n"
        send(socket, order, order.utf8.count, CInt(MSG_NOSIGNAL))
        close(socket)
        var status: CInt = 0
        waitpid(shell.pid, &status, 0)
    }
}
