public import Edits
public import Logging

/// Checks the server of a queue at a program's start, and again and again: after a failover another server answers, and users are not
/// replicated.
public actor ServerWatch {
    /// The time between two checks.
    public static let askEvery: Duration = .seconds(60)

    private let queue: JobQueue
    private let program: QueueProgram
    private let logger: Logger
    private let askEvery: Duration
    /// Whether a server has been found safe: the program works, and another server does not end it.
    private var hasStarted = false
    /// What the last server said, so that nothing is logged twice in a row.
    private var last: ServerVerdict?

    public init(
        _ queue: JobQueue, as program: QueueProgram, _ logger: Logger,
        askEvery: Duration = ServerWatch.askEvery
    ) {
        self.queue = queue
        self.program = program
        self.logger = logger
        self.askEvery = askEvery
    }

    /// Checks the server now.
    ///
    /// - Throws: `unsafeServer` until a server has been found safe; `redis` while none answers.
    public func ask() async throws(QueueError) {
        let verdict = try await queue.askServer(as: program)
        guard verdict.refusals.isEmpty || hasStarted else {
            throw QueueError(.unsafeServer, verdict.refusals.joined(separator: " "))
        }
        hasStarted = true
        if verdict == last { return }
        for refusal in verdict.refusals { logger.error("\(refusal)") }
        for warning in verdict.warnings { logger.warning("\(warning)") }
        last = verdict
    }

    /// Checks the server from time to time until the task is cancelled. While none answers, others tell of it.
    ///
    /// - Throws: `unsafeServer` if the first server that answers is.
    public func run() async throws(QueueError) {
        while !Task.isCancelled {
            do { try await Task.sleep(for: askEvery) } catch { return }
            do throws(QueueError) {
                try await ask()
            } catch {
                if error.code == .unsafeServer { throw error }
                logger.debug("the server could not be checked", metadata: ["error": "\(error)"])
            }
        }
    }
}
