public import Edits
public import Logging
import Redis

/// Checks the server of a queue at a program's start, and again and again: after a failover another server answers, and users are not
/// replicated.
public actor ServerWatch {
    /// The time between two checks.
    public static let askEvery: Duration = .seconds(60)

    private let queue: JobQueue
    private let program: QueueProgram
    private let logger: Logger
    private let askEvery: Duration
    private let own: QueueFormat
    /// When a server was last found safe, or unsafe after another one: the program works from the first on, and another server does
    /// not end it.
    private var asked: ContinuousClock.Instant?
    /// The last server's answer, so that nothing is logged twice in a row.
    private var last: ServerVerdict?

    public init(
        _ queue: JobQueue, as program: QueueProgram, _ logger: Logger,
        askEvery: Duration = ServerWatch.askEvery
    ) {
        self.init(queue, as: program, logger, askEvery: askEvery, .own)
    }

    init(
        _ queue: JobQueue, as program: QueueProgram, _ logger: Logger, askEvery: Duration,
        _ own: QueueFormat
    ) {
        self.queue = queue
        self.program = program
        self.logger = logger
        self.askEvery = askEvery
        self.own = own
    }

    /// Checks the server now. A worker or a gateway also raises the format of the queue as soon as no earlier worker
    /// is left.
    ///
    /// - Throws: `unsafeServer` until a server has been found safe; `laterFormat` whenever the queue has one; `redis` while none
    ///   answers.
    public func ask() async throws(QueueError) {
        var verdict = try await queue.askServer(
            as: program, own, since: asked.map { .now - $0 })
        guard verdict.refusals.isEmpty || asked != nil else {
            throw QueueError(.unsafeServer, verdict.refusals.joined(separator: " "))
        }
        asked = .now
        // A server that accepts no write is told of below, and the next turn raises the format.
        if program != .operator, verdict.refusals.isEmpty, verdict.acceptsWrites,
            let warning = try await raiseFormat()
        {
            verdict.warnings.append(warning)
        }
        if verdict == last { return }
        for refusal in verdict.refusals { logger.error("\(refusal)") }
        for warning in verdict.warnings { logger.warning("\(warning)") }
        last = verdict
    }

    /// Raises the format of the queue, or returns why it stays as it is.
    private func raiseFormat() async throws(QueueError) -> String? {
        do throws(QueueError) {
            return try await queue.raiseFormat(own).map {
                "The queue stays in an earlier format than \(own.known), because worker \($0) knows none later: upgrade it."
            }
        } catch {
            guard let refusal = error.serverError else { throw error }
            return
                "The queue stays in an earlier format than \(own.known), because Redis refused to raise it: \(refusal.message). "
                + "This program tries again in a minute."
        }
    }

    /// Checks the server from time to time until the task is cancelled. While none answers, others tell of it.
    ///
    /// - Throws: `unsafeServer` if the first server that answers is; `laterFormat` if programs of a later release have raised the
    ///   format of the queue.
    public func run() async throws(QueueError) {
        while !Task.isCancelled {
            do { try await Task.sleep(for: askEvery) } catch { return }
            do throws(QueueError) {
                try await ask()
            } catch {
                if [.unsafeServer, .laterFormat].contains(error.code) { throw error }
                logger.debug("the server could not be checked", metadata: ["error": "\(error)"])
            }
        }
    }
}
