import DequeModule
import Edits
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
        /// nil after a cancellation: the reply is still due, and is passed over.
        var waiter: Waiter?
        let deadline: NIODeadline
        let timeout: Duration
        let name: RedisArgument
        /// The arguments are emptied after writing if no refusal can make the command wait again.
        var arguments: [RedisArgument]

        /// Returns the end of the command; nil if nobody waits for it.
        func settlement(_ result: Result<RedisReply, RedisError>) -> Settlement? {
            waiter.map { Settlement(waiter: $0, result: result) }
        }
    }

    struct Settlement {
        let waiter: Waiter
        let result: Result<RedisReply, RedisError>
    }

    /// The action that the owner of the socket must take.
    enum Step: Equatable {
        case nothing
        case connect
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
        /// Nobody waits for the reply any more.
        case passes
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
                return settled(command.settlement(.success(reply)))
            }
            if mayPostpone, error.isMisdirected { return postponed(command, error) }
            let failure = RedisError(answered: error, command: command.name.text)
            return settled(command.settlement(.failure(failure)))
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

    private mutating func settled(_ settlement: Settlement?) -> Received {
        failures = 0
        lastFailure = nil
        if case .leaving(let reason) = phase {
            if written.isEmpty { return .ends(reason, settlement) }
        } else {
            route.startOver()
        }
        guard let settlement else { return .passes }
        return .settles(settlement)
    }
}

// Beginning and end of connections.
extension ConnectionState {
    mutating func startConnecting(_ now: NIODeadline) {
        phase = .connecting(until: now + TimeAmount(connectTimeout))
        loginSteps = LoginStep.all(for: configuration, at: route.stop)
    }

    /// The longest time from the start of the present attempt to the end of its login.
    var connectTimeout: Duration {
        route.stop.isSentinel
            ? min(configuration.sentinelTimeout, configuration.connectTimeout)
            : configuration.connectTimeout
    }

    /// Records that the attempt has a connection. Returns true if the login's commands must be written on it.
    ///
    /// False means that the attempt was given up in the meantime: the caller must close that connection.
    mutating func connected() -> Bool {
        guard case .connecting(let until) = phase else { return false }
        phase = .loggingIn(answered: 0, until: until)
        return true
    }

    /// Records that the connection, or the attempt at one, ended.
    ///
    /// - Parameter random: A number from 0 up to 1, for the wait before the next attempt.
    mutating func lost(_ failure: LinkFailure, now: NIODeadline, random: Double) -> Effects {
        let wasServing: Bool
        switch phase {
        case .idle, .backingOff, .closed: return Effects()
        case .connecting, .loggingIn: wasServing = false
        case .ready, .leaving: wasServing = true
        }
        var failure = failure
        // With several servers, the reason names the affected one.
        if mayPostpone { failure.reason = "\(route.stop.address.location): \(failure.reason)" }
        // A redirection is not a failure, unless it is the only event.
        if lastFailure == nil || !failure.isRedirection { lastFailure = failure }
        var effects = Effects(step: .disconnect)
        if !written.isEmpty {
            let error = lostError(failure)
            effects.settlements += written.compactMap { $0.settlement(.failure(error)) }
            written.removeAll()
        }
        if route.advance(after: failure, wasServing: wasServing) {
            startConnecting(now)
            effects.step = .reconnect
            return effects
        }
        phase = .backingOff(
            until: now + TimeAmount(backoff.delay(failures: failures, random: random)))
        failures += 1
        if failure.consequence == .refusal {
            let error = refusedError(failure)
            effects.settlements += waiting.compactMap { $0.settlement(.failure(error)) }
            waiting.removeAll()
        }
        return effects
    }
}

// Commands that a server refuses because another server, or the same one later, must execute them.
extension ConnectionState {
    /// Makes a refused command wait again, and ends the connection after the outstanding replies.
    ///
    /// An `ASK` is not followed but waited out, like a `TRYAGAIN`: the queue's scripts use more keys than they declare, and while a
    /// slot moves key by key, only a node that has all of them can run a script. Until the move is complete, no node can.
    mutating func postponed(_ command: Command, _ error: RedisServerError) -> Received {
        let reason: LinkFailure
        if case .leaving(let first) = phase {
            reason = first
        } else {
            let why = "it refused \(command.name.text) (\(error.message))"
            reason =
                if let moved = error.movedAddress(from: route.stop.address) {
                    .redirection(to: moved, why)
                } else {
                    .passing(why)
                }
            phase = .leaving(reason)
        }
        // One that was cancelled has executed nothing, and ends here.
        if command.waiter != nil {
            // Ids increase, so the command goes behind those that were refused before it.
            let index = waiting.firstIndex { $0.id > command.id } ?? waiting.endIndex
            waiting.insert(command, at: index)
        }
        return written.isEmpty ? .ends(reason) : .postpones
    }
}

// The end of commands without a reply: deadlines, cancellation, close, and their errors.
extension ConnectionState {
    /// Handles all events that are due: starts the next attempt, gives up a slow one, fails late commands.
    ///
    /// Scans all commands, so it is called once per ``nextWake`` and not per command.
    mutating func wake(now: NIODeadline, random: Double) -> Effects {
        var effects = Effects()
        switch phase {
        case .connecting(let until) where until <= now, .loggingIn(_, let until) where until <= now:
            let advice = configuration.url.usesTLS ? " (does it speak TLS there?)" : ""
            let slow = LinkFailure.passing(
                "no connection and login within \(connectTimeout)\(advice)")
            effects = lost(slow, now: now, random: random)
        case .backingOff(let until) where until <= now:
            startConnecting(now)
            effects.step = .connect
        default: break
        }

        guard earliestDeadline <= now else { return effects }
        expireWaiting(now, into: &effects)
        expireWritten(now, random: random, into: &effects)
        let deadlines = waiting.map(\.deadline) + written.map(\.deadline)
        earliestDeadline = deadlines.min() ?? .distantFuture
        return effects
    }

    private mutating func expireWaiting(_ now: NIODeadline, into effects: inout Effects) {
        guard waiting.contains(where: { $0.deadline <= now }) else { return }
        for command in waiting where command.deadline <= now {
            let error = unwrittenError(command)
            if let settlement = command.settlement(.failure(error)) {
                effects.settlements.append(settlement)
            }
        }
        waiting.removeAll { $0.deadline <= now }
    }

    private mutating func expireWritten(
        _ now: NIODeadline, random: Double, into effects: inout Effects
    ) {
        guard let late = written.first(where: { $0.deadline <= now }) else { return }
        for command in written where command.deadline <= now {
            let error = RedisError(
                .timeout,
                "\(command.name.text) had no reply from Redis at \(location) within "
                    + "\(command.timeout); it may have been executed.",
                mayHaveExecuted: true)
            if let settlement = command.settlement(.failure(error)) {
                effects.settlements.append(settlement)
            }
        }
        written.removeAll { $0.deadline <= now }
        // The late replies may still arrive, and RESP does not identify the command of a reply.
        let reason = "the reply to \(late.name.text) was late, so the connection was closed"
        let end = lost(.passing(reason), now: now, random: random)
        effects.settlements += end.settlements
        effects.step = end.step
    }

    /// Ends the command with that id, if it has not ended yet.
    ///
    /// The reply to a command that was written is still due. It is passed over, and the connection goes on for the commands of others;
    /// a reply that is late ends the connection, as any does. A command for which the server itself waits ends its connection at once:
    /// the connection is its caller's own, and the server would hold back all that follows, or take from a list for nobody.
    mutating func cancel(id: UInt64, now: NIODeadline, random: Double) -> Effects {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            let command = waiting.remove(at: index)
            return Effects(settlements: cancelled(command, mayHaveExecuted: false))
        }
        guard let index = written.firstIndex(where: { $0.id == id }) else { return Effects() }
        let settlements = cancelled(written[index], mayHaveExecuted: true)
        guard CommandRules.mayBlock(written[index].name) else {
            written[index].waiter = nil
            written[index].arguments = []
            return Effects(settlements: settlements)
        }
        let command = written.remove(at: index)
        let reason = "\(command.name.text) was cancelled, so the connection was closed"
        var effects = lost(.passing(reason), now: now, random: random)
        effects.settlements.insert(contentsOf: settlements, at: 0)
        return effects
    }

    /// Returns the end of a cancelled command; none if it was cancelled before.
    private func cancelled(_ command: Command, mayHaveExecuted: Bool) -> [Settlement] {
        let error = RedisError(
            .cancelled,
            "\(command.name.text) was cancelled "
                + (mayHaveExecuted ? "before its reply came." : "before it was sent."),
            mayHaveExecuted: mayHaveExecuted)
        return command.settlement(.failure(error)).map { [$0] } ?? []
    }

    /// Ends all commands and refuses further ones.
    mutating func close() -> Effects {
        guard phase != .closed else { return Effects() }
        phase = .closed
        let writtenEnd = Result<RedisReply, RedisError>.failure(closedError(mayHaveExecuted: true))
        let waitingEnd = Result<RedisReply, RedisError>.failure(closedError(mayHaveExecuted: false))
        let settlements =
            written.compactMap { $0.settlement(writtenEnd) }
            + waiting.compactMap { $0.settlement(waitingEnd) }
        written.removeAll()
        waiting.removeAll()
        earliestDeadline = .distantFuture
        return Effects(step: .disconnect, settlements: settlements)
    }

    // MARK: Errors

    var location: String { configuration.url.location }

    func closedError(mayHaveExecuted: Bool) -> RedisError {
        RedisError(
            .closed, "The Redis client for \(location) was closed.",
            mayHaveExecuted: mayHaveExecuted)
    }

    func refusedError(_ failure: LinkFailure) -> RedisError {
        RedisError(
            failure.code, "Redis at \(location) cannot be used: \(failure.reason).",
            serverError: failure.serverError)
    }

    func lostError(_ failure: LinkFailure) -> RedisError {
        RedisError(
            failure.code,
            "The connection to Redis at \(location) ended before the reply came: \(failure.reason). "
                + "The command may have been executed.",
            mayHaveExecuted: true)
    }

    private func unwrittenError(_ command: Command) -> RedisError {
        let what = "\(command.name.text) could not be sent to Redis at \(location)"
        if phase == .ready {
            return RedisError(
                .timeout, "\(what) within \(command.timeout): the server reads too slowly.")
        }
        let why = lastFailure?.reason ?? "the connection attempt is still in progress"
        return RedisError(
            .unreachable,
            "\(what) within \(command.timeout), because there is no connection: \(why). "
                + "Check that the server runs and that the address is right.")
    }
}
