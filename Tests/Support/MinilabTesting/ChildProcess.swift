import Foundation

/// A process that a test started, in a process group of its own.
struct ChildProcess: Sendable {
    /// The interval at which the exit of a process is polled.
    private static let pollInterval = Duration.milliseconds(2)

    let pid: pid_t

    /// Starts `command`, which is searched for in `PATH`.
    ///
    /// - Parameters:
    ///   - input: The file descriptor of its standard input; nil for an empty input.
    ///   - log: The file for its standard output and standard error; nil to discard them.
    init(_ command: [String], input: CInt? = nil, log: String? = nil) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        // The process must not inherit standard output, or readers of the test run's output would wait for it, too.
        posix_spawn_file_actions_addopen(
            &actions, 1, log ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))

        var arguments = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, command[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else {
            throw TestingFailure(
                "\(command[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        self.pid = pid
    }

    func send(_ signal: CInt) {
        Foundation.kill(pid, signal)
    }

    /// Returns the wait status once the process has exited, and only once; nil while it runs.
    func status() throws -> CInt? {
        var status: CInt = 0
        switch waitpid(pid, &status, WNOHANG) {
        case 0: return nil
        case pid: return status
        default: throw TestingFailure("process \(pid) was already waited for")
        }
    }

    /// Waits for the process to exit, for at most `limit`.
    @discardableResult
    func wait(atMost limit: Duration) async throws -> CInt {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if let status = try status() { return status }
            try await Task.sleep(for: Self.pollInterval)
        }
        throw TestingFailure("process \(pid) has not ended within \(limit)")
    }

    /// Kills the process and reaps it; returns within milliseconds.
    func end() {
        send(SIGKILL)
        var status: CInt = 0
        waitpid(pid, &status, 0)
    }
}

/// Ignores SIGPIPE, so that writing to a dead child fails and does not kill the tests.
public func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
