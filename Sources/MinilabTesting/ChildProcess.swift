import Foundation

/// A process that was started by the tests, in a process group of its own.
struct ChildProcess: Sendable {
    /// How often the end of a process is asked for.
    private static let pollInterval = Duration.milliseconds(2)

    let pid: pid_t

    /// Starts `command`, which is looked up in `PATH`.
    ///
    /// - Parameters:
    ///   - input: The file descriptor for its standard input; nil means nothing to read.
    ///   - log: The file that takes its standard output and errors; nil means nowhere.
    init(_ command: [String], input: CInt? = nil, log: String? = nil) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        // Whoever reads the test run's output must not wait for this process, too.
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

    /// The wait status if the process has ended, which is told once; nil while it runs.
    func status() throws -> CInt? {
        var status: CInt = 0
        switch waitpid(pid, &status, WNOHANG) {
        case 0: return nil
        case pid: return status
        default: throw TestingFailure("process \(pid) was already waited for")
        }
    }

    /// Waits for the end of the process, not longer than `limit`.
    @discardableResult
    func wait(atMost limit: Duration) async throws -> CInt {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if let status = try status() { return status }
            try await Task.sleep(for: Self.pollInterval)
        }
        throw TestingFailure("process \(pid) has not ended within \(limit)")
    }

    /// Kills the process and takes its status; returns within milliseconds.
    func end() {
        send(SIGKILL)
        var status: CInt = 0
        waitpid(pid, &status, 0)
    }
}

/// Makes writing to a child that has died an error of the write, not the end of the tests.
public func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
