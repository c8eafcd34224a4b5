import Adjustments
import FoundationEssentials
import Glibc
import JobQueue
import Logging
import RenderProtocol
import Subprocess
import Synchronization
import SystemPackage

/// One render child process: answers requests one after the other until it is told to end, or dies.
final class RenderChild: Sendable {
    /// One request and who waits for its answer.
    private struct Exchange: Sendable {
        let line: Data
        /// The job that it is for, for the log.
        let job = LoggedJob.current
        let answer: @Sendable (Result<String, ChildDeath>) -> Void
    }

    private struct State {
        var pid: pid_t?
        var death: ChildDeath?
        var lastWords = ""
        /// The job that it works on.
        var job: LoggedJob?
        /// It was told to stand still.
        var isPaused = false
        /// The time that it may take for what it is asked.
        var clock: RenderClock?
        /// How many processes of our control group the kernel had killed for want of memory when it was asked.
        var killsBefore: Int?
        /// Its standard error has ended.
        var silent = false
    }

    private let reachable: ReachableFiles?
    private let exchanges: AsyncStream<Exchange>.Continuation
    private let state: Mutex<State>
    private let life: Mutex<Task<Void, Never>?>

    /// Most characters of standard error that are kept for an error message.
    static let lastWordsMax = 400

    /// The environment of a child: nothing but what rendering needs.
    private static let environment: Subprocess.Environment = {
        var variables: [Subprocess.Environment.Key: String] = [
            "LANG": "C.UTF-8",
            // Two malloc arenas instead of eight per core: freed strips go back to be reused.
            "MALLOC_ARENA_MAX": "2",
            // A crash ends the child at once, by its signal; Swift would first start a debugger on it.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        if let name = TestPoint.armedName { variables[testPointKey] = name }
        return .custom(variables)
    }()

    /// A process group of its own. When a worker is killed whose child stands still, the kernel sees that the group has
    /// nobody left who could let it run on, and ends it (SIGHUP and SIGCONT; POSIX, `_exit`, "orphaned process group").
    private static let options: PlatformOptions = {
        var options = PlatformOptions()
        options.processGroupID = 0
        return options
    }()

    private static let testPointKey = Subprocess.Environment.Key(
        stringLiteral: TestPoint.variable)

    /// Starts a child.
    ///
    /// - Parameter reachable: what it can reach in the file system.
    init(
        executable: FilePath, reachable: ReachableFiles? = nil, logger: Logger,
        listener: @escaping WorkerEvent.Listener = { _ in }
    ) {
        self.reachable = reachable
        let (stream, exchanges) = AsyncStream.makeStream(of: Exchange.self)
        self.exchanges = exchanges
        state = Mutex(State())
        life = Mutex(nil)
        life.withLock {
            // Detached: it outlives the job that it is started for.
            $0 = Task.detached { [self] in await live(executable, stream, logger, listener) }
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// When the waiting task is cancelled, or the time is over, the child is killed: that works at
    /// any stage of a render.
    ///
    /// - Throws: a `Failure` that says how the child died, or `CancellationError`.
    func ask(_ request: RenderRequest, timeout: Duration) async throws -> RenderReply {
        let line = try LineFormat.encode(request)
        let hold = JobHold.current
        let clock = state.withLock { state in
            let clock = RenderClock(timeout, runs: !state.isPaused)
            state.clock = clock
            return clock
        }
        let alarm = Task {
            try await clock.wait()
            kill(because: .timedOut(timeout))
        }
        defer { alarm.cancel() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<String, ChildDeath>, Never>) in
                let exchange = Exchange(line: line) { continuation.resume(returning: $0) }
                if case .terminated = exchanges.yield(exchange) {
                    exchange.answer(.failure(state.withLock { $0.death } ?? .exited(0)))
                }
            }
        } onCancel: {
            kill(because: hold?.isLost == true ? .lostLease : .cancelled)
        }
        switch result {
        case .success(let line):
            return try LineFormat.decode(RenderReply.self, from: Data(line.utf8))
        case .failure(let death):
            if death.isOurWish { throw CancellationError() }
            throw death.failure(lastWords: state.withLock { $0.lastWords })
        }
    }

    /// Whether the child can still be asked.
    var isAlive: Bool { state.withLock { !$0.silent && $0.death == nil } }

    /// Its process; nil before it runs and after it has ended.
    var pid: pid_t? { state.withLock { $0.pid } }

    /// Ends the child when it has answered what it was asked.
    func finish() { exchanges.finish() }

    /// Kills the child at once.
    func kill(because reason: ChildDeath) {
        state.withLock { state in
            if state.death == nil { state.death = reason }
            // The pid stays ours until `live` is over: the child is reaped only after that.
            if let pid = state.pid { _ = Glibc.kill(pid, SIGKILL) }
        }
        exchanges.finish()
    }

    /// Lets the process stand still; the time that its answer may take stands still, too.
    func pause() {
        state.withLock { state in
            guard !state.isPaused else { return }
            state.isPaused = true
            state.clock?.stop()
            // One that is only starting is stopped when it has.
            if let pid = state.pid { _ = Glibc.kill(pid, SIGSTOP) }
        }
    }

    /// Lets the process run on.
    func resume() {
        state.withLock { state in
            guard state.isPaused else { return }
            state.isPaused = false
            state.clock?.start()
            if let pid = state.pid { _ = Glibc.kill(pid, SIGCONT) }
        }
    }

    /// Waits until the process is gone.
    func wait() async { await life.withLock { $0 }?.value }

    private func live(
        _ executable: FilePath, _ stream: AsyncStream<Exchange>, _ logger: Logger,
        _ listener: WorkerEvent.Listener
    ) async {
        let pending = Mutex<Exchange?>(nil)
        var ended: ChildDeath
        do {
            let outcome = try await run(
                .path(executable), arguments: Arguments(reachable?.arguments ?? []),
                environment: Self.environment,
                platformOptions: Self.options,
                input: .inputWriter, output: .sequence, error: .sequence
            ) { execution in
                listener(.childStarts)
                let pid = execution.processIdentifier.value
                state.withLock { state in
                    state.pid = pid
                    // What was asked for while it started.
                    if state.death != nil {
                        _ = Glibc.kill(pid, SIGKILL)
                    } else if state.isPaused {
                        _ = Glibc.kill(pid, SIGSTOP)
                    }
                }
                await withTaskGroup { group in
                    group.addTask {
                        await self.listen(to: execution.standardError, logger)
                        // Standard error ends with the process: so ends a child that dies idle.
                        self.state.withLock { $0.silent = true }
                        self.exchanges.finish()
                    }
                    // A write or read that fails means that the child is gone: its exit says why.
                    do {
                        var lines = execution.standardOutput.strings(
                            separatedBy: .unicodeScalarSequence(["\n"]),
                            bufferingPolicy: .maxLineLength(LineFormat.lineBytesMax)
                        ).makeAsyncIterator()
                        for await exchange in stream {
                            pending.withLock { $0 = exchange }
                            let kills = Self.killsForMemory()
                            state.withLock {
                                $0.job = exchange.job
                                $0.killsBefore = kills
                            }
                            _ = try await execution.standardInputWriter.write(Array(exchange.line))
                            guard let line = try await lines.next() else { break }
                            pending.withLock { $0 = nil }
                            exchange.answer(.success(line))
                        }
                        try await execution.standardInputWriter.finish()
                    } catch {
                        logger.debug("render child lost", metadata: ["error": "\(error)"])
                    }
                }
                state.withLock { $0.pid = nil }
            }
            ended =
                switch outcome.terminationStatus {
                case .exited(let code): ChildDeath(exitCode: code)
                case .signaled(let signal):
                    ChildDeath(signal: signal, forMemory: hasKilledForMemory())
                }
        } catch {
            ended = .notStarted("\(error)")
        }
        let death = state.withLock { state in
            let death = state.death ?? ended
            state.death = death
            return death
        }
        listener(.childEnded(WorkerEvent.ChildEnd(death)))
        exchanges.finish()
        pending.withLock { $0 }?.answer(.failure(death))
        for await exchange in stream { exchange.answer(.failure(death)) }
    }

    /// Processes of our control group, which is the child's, that the kernel has killed for want of memory.
    static func killsForMemory() -> Int? { MemoryFiles().kills() }

    /// Whether the kernel has killed one since the child was asked.
    private func hasKilledForMemory() -> Bool? {
        guard let before = state.withLock({ $0.killsBefore }), let now = Self.killsForMemory()
        else { return nil }
        return now > before
    }

    private func listen(to errors: SubprocessOutputSequence, _ logger: Logger) async {
        do {
            for try await line in errors.strings() {
                let job = state.withLock { $0.job }
                LoggedJob.$current.withValue(job) {
                    logger.debug("render child says", metadata: ["line": "\(line)"])
                }
                state.withLock {
                    $0.lastWords = String(
                        ($0.lastWords + (($0.lastWords.isEmpty) ? "" : " | ") + line)
                            .suffix(Self.lastWordsMax))
                }
            }
        } catch {
            logger.debug("render child's errors end", metadata: ["error": "\(error)"])
        }
    }
}
