import Dispatch
import Edits
import Glibc
import JobQueue
import Logging
import Operations
import ServiceLifecycle
import Subprocess
import SystemPackage

/// The worker processes of this machine, as many as the work of their queue needs.
actor Fleet: Service {
    /// The command line of the workers, without their names.
    private let command: [String]
    private let program: FilePath
    private let queue: JobQueue
    private let target: ScaleTarget
    private let range: ClosedRange<Int>
    /// The prefix of the workers' names.
    private let name: String
    private let parentWatch: ParentWatch
    private let logger: Logger

    private var history: ScaleHistory
    private var backoff = FleetBackoff()
    private var members: [Int: Member] = [:]
    private var newest = 0

    private struct Member {
        let task: Task<Void, Never>
        let started: ContinuousClock.Instant
        var isStopping = false
    }

    /// The interval at which the queue is read.
    static let pollInterval: Duration = .seconds(2)
    /// The time after SIGTERM, including the time for its jobs, after which a worker is killed.
    static let endMax: Duration = .seconds(3700)

    init(
        program: FilePath, command: [String], queue: JobQueue, target: ScaleTarget,
        range: ClosedRange<Int>, keep: Duration, name: String, parentWatch: ParentWatch,
        logger: Logger
    ) {
        self.program = program
        self.command = command
        self.queue = queue
        self.target = target
        self.range = range
        self.name = name
        self.parentWatch = parentWatch
        self.logger = logger
        history = ScaleHistory(keep: keep)
    }

    /// Starts and stops workers until shutdown; then waits until all have exited.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.poll()
                do { try await Task.sleep(for: Self.pollInterval) } catch { break }
            }
        }
        for number in members.keys { stop(number) }
        for member in members.values { await member.task.value }
    }

    private func poll() async {
        let advice: ScaleAdvice
        let workers: [WorkerInfo]
        do {
            let status = try await queue.status()
            workers = status.workers
            advice = history.settle(
                try await queue.scaleAdvice(target, from: status), at: .now)
        } catch {
            // The amount of work is unknown. The workers wait for Redis, too.
            logger.warning(
                "the fleet stays as it is until Redis answers", metadata: ["error": "\(error)"])
            return
        }
        let busy = Dictionary(workers.map { ($0.name, $0.busy) }, uniquingKeysWith: max)
        let own = members.filter { !$0.value.isStopping }.keys.sorted()
        let names = Set(members.keys.map(workerName))
        let plan = FleetPlan(
            own.map { .init(number: $0, busy: busy[workerName($0)]) }, wanted: advice.workers,
            others: workers.count { !names.contains($0.name) }, of: range)
        if plan.start > 0, backoff.isOver(at: .now) {
            logger.notice(
                "the fleet grows", metadata: facts(advice, own.count, own.count + plan.start))
            for _ in 0..<plan.start { start() }
        }
        if !plan.stop.isEmpty {
            logger.notice(
                "the fleet shrinks", metadata: facts(advice, own.count, own.count - plan.stop.count)
            )
            for number in plan.stop { stop(number) }
        }
    }

    private func facts(_ advice: ScaleAdvice, _ from: Int, _ to: Int) -> Logger.Metadata {
        [
            "from": "\(from)", "to": "\(to)", "reason": "\(advice.reason.rawValue)",
            "workSeconds": "\(Int(advice.workSeconds))", "jobs": "\(advice.jobs)",
        ]
    }

    private func workerName(_ number: Int) -> String { "\(name)-\(number)" }

    private func start() {
        newest += 1
        let number = newest
        let arguments = command + ["--worker-name", workerName(number), "--drain-at-end-of-input"]
        var options = PlatformOptions()
        // The workers leave the terminal's process group: Ctrl-C goes to the fleet, which stops them gracefully.
        options.processGroupID = 0
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: Self.endMax)]
        let task = Task { [program, options, parentWatch] in
            let end: String
            do {
                let result = try await Subprocess.run(
                    .path(program), arguments: Arguments(arguments), platformOptions: options,
                    input: .fileDescriptor(parentWatch.input, closeAfterSpawningProcess: false),
                    output: .currentStandardError, error: .currentStandardError)
                end = "\(result.terminationStatus)"
            } catch {
                end = "it could not be started: \(error)"
            }
            self.ended(number, end)
        }
        members[number] = Member(task: task, started: .now)
    }

    private func stop(_ number: Int) {
        members[number]?.isStopping = true
        members[number]?.task.cancel()
    }

    private func ended(_ number: Int, _ end: String) {
        guard let member = members.removeValue(forKey: number), !member.isStopping else { return }
        backoff.note(after: .now - member.started, at: .now)
        logger.error(
            "a worker of the fleet ended by itself",
            metadata: ["worker": "\(workerName(number))", "end": "\(end)"])
    }
}

/// A socket pair without traffic. A process that has one socket as standard input reads the end of input when this
/// process exits.
final class ParentWatch: Sendable {
    /// The standard input of processes that must stop when this process exits (`minilab worker
    /// --drain-at-end-of-input`).
    let input: FileDescriptor
    private let kept: FileDescriptor

    /// - Throws: `Errno` if this process has no free descriptors.
    init() throws {
        var ends: [CInt] = [0, 0]
        // The sockets are closed on exec, so that no worker inherits the end that keeps the others running.
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
        input = FileDescriptor(rawValue: ends[0])
        kept = FileDescriptor(rawValue: ends[1])
    }

    deinit {
        // The descriptors belong to this object. An error of closing them has no remedy.
        close(input.rawValue)
        close(kept.rawValue)
    }
}

/// A service that returns when standard input reaches its end: the process that started this one has exited, for any
/// reason.
///
/// The kernel's signal for this (`PR_SET_PDEATHSIG`) follows the thread that started the process, not the process.
struct EndOfInput: Service {
    func run() async {
        let (ends, ended) = AsyncStream<Never>.makeStream()
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO)
        source.setEventHandler {
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            // The bytes are ignored. An input that cannot be read counts as closed, unless the call was interrupted.
            if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { ended.finish() }
        }
        source.activate()
        await cancelWhenGracefulShutdown { for await _ in ends {} }
        source.cancel()
    }
}
