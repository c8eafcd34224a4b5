import DequeModule
import NIOCore

/// Every command of one client and the state of its connection. The type makes decisions and does no I/O.
///
///     idle ──submit──► connecting ──► logging in ──► ready ──refused──► leaving
///                         ▲  │            │            │                   │
///                         │  └────────────┴────────────┴───────────────────┴──► backing off ──┐
///                         └───────────────────────────────────────────────────────────────────┘
///     any ──close──► closed
///
/// A command is *waiting* until it is written and *written* until its reply arrives. Replies belong to written commands in the
/// order of writing, within one connection. The end of a connection ends all commands written on it; waiting commands continue on
/// the next connection. Each waiter leaves this state exactly once, inside a `Settlement`.
///
/// If the URL names sentinels or a cluster, a command that the server refuses because another server must execute it waits
/// again. The connection is then *leaving*: no further command is written on it, and it ends with the last outstanding reply, so
/// that the result of every command is known.
///
/// Times and random numbers are arguments; `Waiter` is a continuation, or a number in tests.
struct ConnectionState<Waiter> {
    struct Command {
        let id: UInt64
        let waiter: Waiter
        let deadline: NIODeadline
        let timeout: Duration
        let name: RedisArgument
        /// The arguments are emptied after writing if no refusal can make the command wait again.
        var arguments: [RedisArgument]
    }

    /// The end of a command.
    struct Settlement {
        let waiter: Waiter
        let result: Result<RedisReply, RedisError>
    }

    /// The action that the owner of the socket must take.
    enum Step: Equatable {
        case nothing
        /// Start a connection attempt.
        case connect
        /// Write the waiting commands.
        case flush
        /// Close the connection, or give up the attempt at one.
        case disconnect
        /// Close the connection or give up the attempt, and start the next attempt.
        case reconnect
    }

    struct Effects {
        var step = Step.nothing
        var settlements: [Settlement] = []
    }

    /// The meaning of a reply.
    enum Received {
        case settles(Settlement)
        /// The command was refused and waits again.
        case postpones
        /// One reply of the login; more are to follow.
        case continuesLogin
        /// The login is complete: flush.
        case completesLogin
        /// The connection must end: report it to `lost`. The settlement comes first, if any.
        case ends(LinkFailure, Settlement? = nil)
    }

    enum Phase: Equatable {
        case idle
        case connecting(until: NIODeadline)
        case loggingIn(answered: Int, until: NIODeadline)
        case ready
        /// All outstanding replies are awaited; then the connection ends for that reason.
        case leaving(LinkFailure)
        case backingOff(until: NIODeadline)
        case closed
    }

    let configuration: RedisConfiguration
    let backoff: Backoff
    /// Whether a command that the server refuses may be sent to another one.
    let mayPostpone: Bool
    var phase = Phase.idle
    var route: Route
    /// The login of the present connection.
    var loginSteps: [LoginStep] = []
    var waiting = Deque<Command>()
    var written = Deque<Command>()
    /// The number of attempts and connections that ended since the last reply to a command.
    var failures = 0
    /// The failure of the last of them; nil after a reply.
    var lastFailure: LinkFailure?
    /// A lower bound of the deadlines of all commands; commands that have ended may have left it too early.
    var earliestDeadline = NIODeadline.distantFuture

    init(_ configuration: RedisConfiguration) {
        self.configuration = configuration
        route = Route(configuration.url.topology)
        mayPostpone = if case .standalone = configuration.url.topology { false } else { true }
        backoff = Backoff(base: configuration.backoffBase, max: configuration.backoffMax)
    }

    /// The time at which `wake` must be called next; `distantFuture` means never.
    var nextWake: NIODeadline {
        switch phase {
        case .connecting(let until), .loggingIn(_, let until), .backingOff(let until):
            min(until, earliestDeadline)
        case .idle, .ready, .leaving, .closed:
            earliestDeadline
        }
    }

    // MARK: Commands

    /// Accepts a command.
    ///
    /// Ids increase from one command to the next. The arguments have passed ``CommandRules``.
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
                "\(configuration.pendingCommandsMax) Redis commands already wait for \(location): "
                    + "call less at a time, or find out why the server is slow.")
        }
        // The attempts continue; a call between two of them receives the failure of the last one.
        if case .backingOff = phase, let lastFailure, lastFailure.consequence == .refusal {
            return refusedError(lastFailure)
        }
        return nil
    }

    /// Returns the next command to write, which counts as written from now on; nil if none may be written.
    mutating func writeNext() -> [RedisArgument]? {
        guard phase == .ready, var command = waiting.popFirst() else { return nil }
        let arguments = command.arguments
        if !mayPostpone { command.arguments = [] }
        written.append(command)
        return arguments
    }

    /// Handles the next reply of the present connection.
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
