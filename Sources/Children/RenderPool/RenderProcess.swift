import Edits
import Files
import FoundationEssentials
import Glibc
import Logging
import RenderProtocol
import Subprocess
import Synchronization
import SystemPackage
import Telemetry
import Tracing

/// The process of a render child, as its worker sees it.
///
/// It answers requests one after another until it is asked to end, dies, or sends a reply that the worker rejects.
final class RenderProcess: Sendable {
    /// A child's reply, the resources that the request used, and what the child holds although no render leaves it
    /// behind; nil: nothing.
    typealias Answer = (content: RenderReply.Content, use: RenderUse, excess: String?)

    /// A request and the closure that receives its answer.
    private struct Exchange: Sendable {
        let request: RenderRequest
        let line: Data
        let files: [OpenFile]
        let progress: @Sendable (RenderReply.Progress) -> Void
        /// The metadata that the logger adds to lines of the requesting task, such as its job.
        let metadata: Logger.Metadata
        let answer: @Sendable (Result<Answer, ChildDeath>) -> Void
    }

    private struct State {
        var pid: pid_t?
        /// Kept open while the process lives, so that its threads can be counted when the worker has no free descriptor.
        var status: ProcessStatus?
        var death: ChildDeath?
        /// The rejected reply for which the child was killed; nil if the child was already dead.
        var broken: ChildDeath?
        var lastOutput = ""
        /// The metadata that the logger adds to lines about the present request.
        var metadata: Logger.Metadata = [:]
        /// Whether the process is paused because memory is short.
        var isPaused = false
        /// Whether the process has answered its last request and has no other one. It is stopped then: a child that
        /// a photo has taken over computes and writes nothing between requests.
        var isAtRest = false
        /// The time limit of the present request.
        var clock: RenderClock?
        /// The private memory that the process may hold during its present request, in bytes.
        var bytesMax = Int.max
        /// Whether the process was ended because it held more.
        var isOverdrawn = false
        /// The number of processes of the worker's control group that the kernel had killed for lack of memory when
        /// the present request was sent.
        var killsBefore: Int?
        /// Whether the child's standard error has ended.
        var silent = false
        /// Whether the worker has killed the child because it is not needed any more.
        var isDismissed = false

        /// The process while it lives.
        var process: (pid: pid_t, status: ProcessStatus)? {
            pid.flatMap { pid in status.map { (pid, $0) } }
        }

        /// Whether the kernel may run the process.
        var runs: Bool { !isPaused && !isAtRest }

        /// Applies a change, and stops or continues the process if it is to.
        mutating func stopOrContinue(after change: (inout State) -> Void) {
            let ran = runs
            change(&self)
            // A child that is still starting is stopped after its start.
            guard let pid, runs != ran else { return }
            _ = Glibc.kill(pid, runs ? SIGCONT : SIGSTOP)
        }
    }

    private let exchanges: AsyncStream<Exchange>.Continuation
    private let state: Mutex<State>
    private let life: Mutex<Task<Void, Never>?>
    /// Ends when the process has been started, or could not be.
    private let start: AsyncStream<Never>
    private let started: AsyncStream<Never>.Continuation
    private let logger: Logger

    /// The most characters of standard error that are kept for an error message.
    static let lastOutputMax = 400

    /// Whether children are stopped between requests. Not where a test waits for a child that has stopped itself.
    private static let rests = TestPoint.armedName == nil

    /// The time between two checks of a child that works on a request.
    private static let watchPause: Duration = .milliseconds(250)

    /// How long a child may live on after it was asked to end, or after it has closed its output.
    private static let endTimeout: Duration = .seconds(5)

    /// The environment of a child: only the variables that rendering needs.
    private static func environment(
        _ executable: FilePath, _ lifeBytes: Int?
    ) -> Subprocess.Environment {
        var variables: [Subprocess.Environment.Key: String] = [
            "LANG": "C.UTF-8",
            // Two malloc arenas instead of eight per core, so that freed strips are reused.
            "MALLOC_ARENA_MAX": "2",
            // A crash ends the child immediately by its signal. By default Swift would first start a debugger.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        variables[lifeBytesKey] = lifeBytes.map { "\($0)" }
        variables["LD_LIBRARY_PATH"] = UnusedLibraries.folder(beside: executable)?.string
        if let name = TestPoint.armedName { variables[testPointKey] = name }
        return .custom(variables)
    }

    /// The options that give the child its own process group. If a worker is killed while its child is paused, the
    /// group becomes orphaned: no process is left that could resume it. The kernel then ends it with SIGHUP and
    /// SIGCONT (POSIX, `_exit`, "orphaned process group").
    private static let options: PlatformOptions = {
        var options = PlatformOptions()
        options.processGroupID = 0
        return options
    }()

    private static let testPointKey = Subprocess.Environment.Key(
        stringLiteral: TestPoint.variable)
    private static let lifeBytesKey = Subprocess.Environment.Key(
        stringLiteral: ChildEnvironment.memoryMax)

    /// Starts a child.
    ///
    /// - Parameters:
    ///   - lifeBytes: the private memory that the child may get beside what it starts with, whatever it is asked; nil: no limit.
    ///   - status: opens the status of a process. A child whose status cannot be opened is not started, since its
    ///     threads could not be counted.
    init(
        executable: FilePath, lifeBytes: Int? = nil, logger: Logger,
        metrics: RenderMetrics = RenderMetrics(),
        status: @escaping @Sendable (pid_t) -> ProcessStatus? = { ProcessStatus("\($0)") }
    ) {
        let (stream, exchanges) = AsyncStream.makeStream(of: Exchange.self)
        self.exchanges = exchanges
        state = Mutex(State())
        life = Mutex(nil)
        (start, started) = AsyncStream.makeStream(of: Never.self)
        self.logger = logger
        life.withLock {
            // Detached, because the child outlives the job for which it was started.
            $0 = Task.detached { [self] in
                await live(executable, lifeBytes, stream, metrics, status)
            }
        }
    }

    /// Sends a request with its files and waits for the answer.
    ///
    /// If the calling task is cancelled, or the time limit expires, the child is killed. That works at any stage of
    /// a render.
    ///
    /// - Parameters:
    ///   - bytesMax: the private memory that the request may take beside what the child holds already. A child that holds
    ///     more is ended.
    ///   - hasLostLease: asked when the calling task is cancelled, for the reason of the child's death.
    ///   - progress: called with the progress of the request.
    /// - Throws: a `Failure` that describes the child's death, or `CancellationError`.
    func ask(
        _ work: RenderRequest.Work, _ files: RenderFiles, timeout: Duration, bytesMax: Int? = nil,
        hasLostLease: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (RenderReply.Progress) -> Void = { _ in }
    ) async throws -> Answer {
        // A child has no way to send spans: its worker records what it sees from outside.
        try await inSpan("render child \(work.name)") { span in
            let answer = try await exchange(
                work, files, timeout: timeout, bytesMax, hasLostLease
            ) { done in
                span.note(done)
                progress(done)
            }
            span.note(answer.use, pid)
            return answer
        }
    }

    private func exchange(
        _ work: RenderRequest.Work, _ files: RenderFiles, timeout: Duration, _ bytesMax: Int?,
        _ hasLostLease: @escaping @Sendable () -> Bool,
        progress: @escaping @Sendable (RenderReply.Progress) -> Void
    ) async throws -> Answer {
        let handed = files.handed
        let request = RenderRequest(work, files: handed.map(\.role))
        let line = try LineFormat.encode(request)
        let clock = state.withLock { state in
            let clock = RenderClock(timeout, runs: !state.isPaused)
            state.clock = clock
            let held = state.status.flatMap(ChildMemory.init)?.bytes ?? 0
            state.bytesMax = bytesMax.map { held + $0 } ?? .max
            return clock
        }
        let alarm = Task {
            try await clock.wait()
            kill(because: .timedOut(timeout))
        }
        let watch = Task {
            while true {
                try await Task.sleep(for: Self.watchPause)
                let status = state.withLock { $0.status }
                if let excess = status.flatMap(ChildExcess.threads) {
                    kill(because: .untrusted(excess))
                }
                _ = endIfOverdrawn()
            }
        }
        defer {
            alarm.cancel()
            watch.cancel()
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<Answer, ChildDeath>, Never>) in
                let exchange = Exchange(
                    request: request, line: line, files: handed.map(\.file), progress: progress,
                    metadata: logger.metadataProvider?.get() ?? [:]
                ) { continuation.resume(returning: $0) }
                if case .terminated = exchanges.yield(exchange) {
                    exchange.answer(.failure(state.withLock { $0.death } ?? .exited(0)))
                }
            }
        } onCancel: {
            kill(because: hasLostLease() ? .lostLease : .cancelled)
        }
        switch result {
        case .success(let answer): return answer
        case .failure(let death):
            if death.isOurWish { throw CancellationError() }
            throw death.failure(lastOutput: state.withLock { $0.lastOutput })
        }
    }

    /// Ends the child if it holds more private memory than its present request may take: it has lifted the limits that it set itself.
    ///
    /// - Returns: whether it did.
    func endIfOverdrawn() -> Bool {
        let (status, most) = state.withLock { ($0.status, $0.bytesMax) }
        guard let held = status.flatMap(ChildMemory.init)?.bytes, held > most else { return false }
        let wasAlive = state.withLock { state in
            guard state.death == nil, !state.isOverdrawn else { return false }
            state.isOverdrawn = true
            return true
        }
        guard wasAlive else { return false }
        kill(
            because: .untrusted(
                "it held \(megabytes(held)) of memory; its request may take \(megabytes(most))"))
        return true
    }

    /// Whether it took more memory than there was for it: its worker or the kernel ended it for that.
    var tookTooMuch: Bool {
        state.withLock { state in
            if case .killed(let forMemory) = state.death { return forMemory != false }
            return state.isOverdrawn
        }
    }

    /// Whether the kernel has ended it because memory is short.
    var wasKilledForMemory: Bool { state.withLock { $0.death == .killed(forMemory: true) } }

    /// Whether the child can still receive requests.
    var isAlive: Bool { state.withLock { !$0.silent && $0.death == nil } }

    /// The process ID of the child; nil before it runs and after it has ended.
    var pid: pid_t? { state.withLock { $0.pid } }

    /// Waits until the process has been started.
    ///
    /// - Returns: the reason why it could not be; nil if it was.
    func waitForStart() async -> String? {
        for await _ in start {}
        guard case .notStarted(let reason) = state.withLock({ $0.death }) else { return nil }
        return reason
    }

    /// Ends the child after it has answered its pending requests.
    func finish() { exchanges.finish() }

    /// Kills the child immediately.
    func kill(because reason: ChildDeath) {
        state.withLock { state in
            if state.death == nil { state.death = reason }
            // The pid stays valid until `live` returns: the child is reaped only after that.
            if let pid = state.pid { _ = Glibc.kill(pid, SIGKILL) }
        }
        exchanges.finish()
    }

    /// Pauses the process and the time limit of its present request.
    func pause() {
        state.withLock { state in
            guard !state.isPaused else { return }
            state.stopOrContinue { $0.isPaused = true }
            state.clock?.stop()
        }
    }

    /// Resumes the process and the time limit of its present request.
    func resume() {
        state.withLock { state in
            guard state.isPaused else { return }
            state.stopOrContinue { $0.isPaused = false }
            state.clock?.start()
        }
    }

    /// Waits until the process has ended.
    func wait() async { await life.withLock { $0 }?.value }

    private func live(
        _ executable: FilePath, _ lifeBytes: Int?, _ stream: AsyncStream<Exchange>,
        _ metrics: RenderMetrics,
        _ openStatus: @Sendable (pid_t) -> ProcessStatus?
    ) async {
        let pending = Mutex<Exchange?>(nil)
        var ended: ChildDeath
        do {
            let (socket, theirs) = try DescriptorSocket.pair()
            let outcome = try await run(
                .path(executable), environment: Self.environment(executable, lifeBytes),
                platformOptions: Self.options,
                input: .fileDescriptor(
                    FileDescriptor(rawValue: theirs), closeAfterSpawningProcess: true),
                output: .sequence, error: .sequence
            ) { execution in
                metrics.childStarts.add()
                let pid = execution.processIdentifier.value
                Self.letKernelKillFirst(pid)
                let status = openStatus(pid)
                state.withLock { state in
                    (state.pid, state.status) = (pid, status)
                    // Applies what was requested during the start.
                    if state.death != nil {
                        _ = Glibc.kill(pid, SIGKILL)
                    } else if !state.runs {
                        _ = Glibc.kill(pid, SIGSTOP)
                    }
                }
                if status == nil {
                    kill(
                        because: .notStarted(
                            "/proc/\(pid)/status cannot be opened, so its threads cannot be counted"
                        ))
                }
                started.finish()
                await withTaskGroup { group in
                    group.addTask {
                        await self.listen(to: execution.standardError)
                        // Standard error ends with the process, which reveals the death of an idle child.
                        self.state.withLock { $0.silent = true }
                        self.exchanges.finish()
                    }
                    await converse(
                        over: socket, execution.standardOutput, stream, pending)
                    socket.shutDown()
                    dismiss()
                    // Kills a child that does not exit by itself.
                    let alarm = Task {
                        try await Task.sleep(for: Self.endTimeout)
                        doubt(
                            BrokenReply("it closed its output or was asked to end, but still runs"))
                    }
                    await group.waitForAll()
                    alarm.cancel()
                }
                state.withLock { ($0.pid, $0.status) = (nil, nil) }
            }
            ended =
                switch outcome.terminationStatus {
                case .exited(let code):
                    state.withLock { $0.broken } ?? ChildDeath(exitCode: code)
                // The child's own death takes precedence: the rejected reply may be a consequence of it.
                case .signaled(SIGKILL) where state.withLock { $0.isDismissed }: .exited(0)
                case .signaled(SIGKILL):
                    state.withLock { $0.broken }
                        ?? ChildDeath(signal: SIGKILL, forMemory: hasKilledForMemory())
                case .signaled(let signal):
                    ChildDeath(signal: signal, forMemory: nil)
                }
        } catch {
            ended = .notStarted("\(error)")
        }
        let death = state.withLock { state in
            let death = state.death ?? ended
            state.death = death
            return death
        }
        started.finish()
        metrics.childEnds.add(1, death.cause)
        exchanges.finish()
        pending.withLock { $0 }?.answer(.failure(death))
        for await exchange in stream { exchange.answer(.failure(death)) }
    }

    /// Sends requests and accepts replies that are within their ranges, until the child is asked to end, has died,
    /// or sends a reply that the worker rejects.
    private func converse(
        over socket: DescriptorSocket, _ output: SubprocessOutputSequence,
        _ stream: AsyncStream<Exchange>, _ pending: borrowing Mutex<Exchange?>
    ) async {
        var lines = output.strings(
            separatedBy: .unicodeScalarSequence(["\n"]),
            bufferingPolicy: .maxLineLength(LineFormat.lineBytesMax)
        ).makeAsyncIterator()
        for await exchange in stream {
            pending.withLock { $0 = exchange }
            let kills = Self.killsForMemory()
            let process = state.withLock { state in
                state.metadata = exchange.metadata
                state.killsBefore = kills
                state.stopOrContinue { $0.isAtRest = false }
                return state.process
            }
            let meter = process.map { ChildMeter($0.pid, $0.status) }
            do {
                try await offPool { () throws(Failure) in
                    try socket.send(
                        Array(exchange.line), with: exchange.files.map(\.descriptor))
                }
                let reply = try await Self.reply(to: exchange, from: &lines)
                pending.withLock { $0 = nil }
                state.withLock { state in state.stopOrContinue { $0.isAtRest = Self.rests } }
                let excess = process.flatMap {
                    ChildExcess.threads($0.status)
                        ?? ChildExcess.files(of: $0.pid, among: exchange.files)
                }
                exchange.answer(.success((reply, meter?.use ?? RenderUse(), excess)))
            } catch let broken as BrokenReply {
                return doubt(broken)
            } catch {
                // The child has died, and its exit status tells why; or it is alive and has closed its standard
                // output.
                logger.debug("render child lost", metadata: ["error": "\(error)"])
                exchanges.finish()
                return
            }
        }
    }

    private static func reply(
        to exchange: Exchange,
        from lines: inout SubprocessOutputSequence.StringSequence<UTF8>.AsyncIterator
    ) async throws -> RenderReply.Content {
        for _ in 0...ReplyBounds.progressMax {
            let line: String?
            do {
                line = try await lines.next()
            } catch {
                throw BrokenReply("a line is longer than \(LineFormat.lineBytesMax) bytes")
            }
            guard let line else { throw ClosedOutput() }
            let reply = try RenderReply(Data(line.utf8), to: exchange.request)
            guard case .progress(let done) = reply.content else { return reply.content }
            exchange.progress(done)
        }
        throw BrokenReply(
            "more than \(ReplyBounds.progressMax) lines of progress came for one request")
    }

    /// The child has closed its standard output.
    private struct ClosedOutput: Error {}

    /// Kills a child that is at rest, because it is not needed any more. It is stopped and cannot exit by itself, and
    /// holds nothing that would have to be saved.
    private func dismiss() {
        state.withLock { state in
            guard state.isAtRest, !state.silent, let pid = state.pid else { return }
            state.isDismissed = true
            _ = Glibc.kill(pid, SIGKILL)
        }
    }

    /// Kills a child because of a rejected reply. If the child has already died, its own cause of death is kept.
    private func doubt(_ broken: BrokenReply) {
        state.withLock { state in
            state.broken = .untrusted(broken.description)
            if let pid = state.pid { _ = Glibc.kill(pid, SIGKILL) }
        }
        exchanges.finish()
    }

    /// Returns the number of processes that the kernel has killed for lack of memory in the control group of the
    /// worker and its children.
    static func killsForMemory() -> Int? { MemoryFiles().kills() }

    /// Returns whether the kernel has killed such a process since the request was sent.
    private func hasKilledForMemory() -> Bool? {
        guard let before = state.withLock({ $0.killsBefore }), let now = Self.killsForMemory()
        else { return nil }
        return now > before
    }

    private func listen(to errors: SubprocessOutputSequence) async {
        do {
            for try await line in errors.strings() {
                var metadata = state.withLock { $0.metadata }
                metadata["line"] = "\(line)"
                logger.debug("output of a render child", metadata: metadata)
                state.withLock {
                    $0.lastOutput = String(
                        ($0.lastOutput + (($0.lastOutput.isEmpty) ? "" : " | ") + line)
                            .suffix(Self.lastOutputMax))
                }
            }
        } catch {
            logger.debug("render child's errors end", metadata: ["error": "\(error)"])
        }
    }
}

extension RenderProcess {
    /// The memory that a process holds, in bytes.
    struct Memory: Sendable {
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
