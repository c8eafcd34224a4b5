import DequeModule
import NIOCore

/// Every command of one client and the state of its connection; decides, and does no I/O.
///
///     idle ──submit──► connecting ──► logging in ──► ready ──refused──► leaving
///                         ▲  │            │            │                   │
///                         │  └────────────┴────────────┴───────────────────┴──► backing off ──┐
///                         └───────────────────────────────────────────────────────────────────┘
///     any ──close──► closed
///
/// A command is *waiting* until it is written and *written* until its reply comes. Replies belong
/// to written commands in the order of writing, within one connection; with the connection all
/// that was written on it ends, while what waits goes on to the next one. Each waiter leaves this
/// state exactly once, inside a `Settlement`.
///
/// Where the URL names sentinels or a cluster, a command that the server refuses because another
/// one has to execute it waits again. The connection is then *leaving*: nothing more is written on
/// it, and it ends with the last reply that is due, so that no command's fate is left open.
///
/// Times are arguments, so is chance; `Waiter` is a continuation, or a number in tests.
struct ConnectionState<Waiter> {
    struct Command {
        let id: UInt64
        let waiter: Waiter
        let deadline: NIODeadline
        let timeout: Duration
        let name: RedisArgument
        /// Emptied when they are written, where nothing can make them wait again.
        var arguments: [RedisArgument]
    }

    /// A command's end.
    struct Settlement {
        let waiter: Waiter
        let result: Result<RedisReply, RedisError>
    }

    /// What the owner of the socket has to do.
    enum Step: Equatable {
        case nothing
        /// Start a connection attempt.
        case connect
        /// Write what waits.
        case flush
        /// Close the connection, or give up the attempt at one.
        case drop
        /// The same, and start the next attempt.
        case reconnect
    }

    struct Effects {
        var step = Step.nothing
        var settlements: [Settlement] = []
    }

    /// What a reply means.
    enum Received {
        case settles(Settlement)
        /// The command was refused and waits again.
        case postpones
        /// One answer of the login; more are to come.
        case continuesLogin
        /// The login is complete: flush.
        case completesLogin
        /// The connection cannot go on: report it to `lost`. The settlement comes first, if any.
        case ends(LinkFailure, Settlement? = nil)
    }

    enum Phase: Equatable {
        case idle
        case connecting(until: NIODeadline)
        case loggingIn(answered: Int, until: NIODeadline)
        case ready
        /// Every reply that is due is awaited, and then the connection ends for that reason.
        case leaving(LinkFailure)
        case backingOff(until: NIODeadline)
        case closed
    }

    let configuration: RedisConfiguration
    let backoff: Backoff
    /// Whether a command that the server refuses may go to another one.
    let mayPostpone: Bool
    var phase = Phase.idle
    var route: Route
    /// What the present connection begins with.
    var loginSteps: [LoginStep] = []
    var waiting = Deque<Command>()
    var written = Deque<Command>()
    /// Attempts and connections that ended since a command was last answered.
    var failures = 0
    /// How the last of them ended; nil after an answer.
    var lastFailure: LinkFailure?
    /// No command's deadline is earlier; commands that are gone may have left it too early.
    var earliestDeadline = NIODeadline.distantFuture

    init(_ configuration: RedisConfiguration) {
        self.configuration = configuration
        route = Route(configuration.url.topology)
        mayPostpone = if case .standalone = configuration.url.topology { false } else { true }
        backoff = Backoff(base: configuration.backoffBase, max: configuration.backoffMax)
    }

    /// When `wake` has to be called next; `distantFuture` means never.
    var nextWake: NIODeadline {
        switch phase {
        case .connecting(let until), .loggingIn(_, let until), .backingOff(let until):
            min(until, earliestDeadline)
        case .idle, .ready, .leaving, .closed:
            earliestDeadline
        }
    }

    // MARK: Commands

    /// Takes a command in.
    ///
    /// Ids rise from one command to the next. The arguments have passed ``CommandRules``.
    mutating func submit(
        id: UInt64, _ arguments: [RedisArgument], timeout: Duration, waiter: Waiter,
        now: NIODeadline
    ) -> Effects {
        if let error = refusal(of: arguments[0], timeout: timeout) {
            return Effects(settlements: [Settlement(waiter: waiter, result: .failure(error))])
        }
        let deadline = now + TimeAmount(timeout)
        waiting.append(
            Command(
                id: id, waiter: waiter, deadline: deadline, timeout: timeout, name: arguments[0],
                arguments: arguments))
        earliestDeadline = min(earliestDeadline, deadline)
        switch phase {
        case .ready: return Effects(step: .flush)
        case .idle:
            startConnecting(now)
            return Effects(step: .connect)
        case .connecting, .loggingIn, .leaving, .backingOff, .closed: return Effects()
        }
    }

    private func refusal(of name: RedisArgument, timeout: Duration) -> RedisError? {
        if phase == .closed { return closedError(mayHaveExecuted: false) }
        guard timeout > .zero else {
            return RedisError(
                .timeout, "\(name.text) was not sent to Redis: no time was left for it.")
        }
        guard waiting.count + written.count < configuration.pendingCommandsMax else {
            return RedisError(
                .tooManyPending,
                "\(configuration.pendingCommandsMax) Redis commands already wait for \(place): "
                    + "call less at a time, or find out why the server is slow.")
        }
        // The attempts go on; a caller who comes between two of them is told how the last went.
        if case .backingOff = phase, let lastFailure, lastFailure.consequence == .refusal {
            return refusedError(lastFailure)
        }
        return nil
    }

    /// The next command to write, which counts as written from now on; nil when none may be.
    mutating func writeNext() -> [RedisArgument]? {
        guard phase == .ready, var command = waiting.popFirst() else { return nil }
        let arguments = command.arguments
        if !mayPostpone { command.arguments = [] }
        written.append(command)
        return arguments
    }

    /// Takes the next reply of the present connection.
    mutating func received(_ reply: RedisReply) -> Received {
        switch phase {
        case .ready, .leaving:
            guard let command = written.popFirst() else {
                return .ends(.violation("it sent a reply that no command had asked for"))
            }
            guard case .error(let error) = reply else {
                return settled(Settlement(waiter: command.waiter, result: .success(reply)))
            }
            if mayPostpone, error.isMisdirected { return postponed(command, error) }
            let failure = RedisError(answered: error, command: command.name.text)
            return settled(Settlement(waiter: command.waiter, result: .failure(failure)))
        case .loggingIn(let answered, let until):
            let step = loginSteps[answered]
            if let failure = step.failure(from: reply, configuration: configuration) {
                return .ends(failure)
            }
            guard answered + 1 < loginSteps.count else {
                phase = .ready
                return .completesLogin
            }
            phase = .loggingIn(answered: answered + 1, until: until)
            return .continuesLogin
        case .idle, .connecting, .backingOff, .closed:
            return .ends(.violation("it sent a reply before the login"))
        }
    }

    private mutating func settled(_ settlement: Settlement) -> Received {
        failures = 0
        lastFailure = nil
        guard case .leaving(let reason) = phase else {
            route.startOver()
            return .settles(settlement)
        }
        return written.isEmpty ? .ends(reason, settlement) : .settles(settlement)
    }
}
