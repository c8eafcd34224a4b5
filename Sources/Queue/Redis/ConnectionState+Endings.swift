import DequeModule
import NIOCore

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
            effects.settlements.append(
                Settlement(waiter: command.waiter, result: .failure(error)))
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
            effects.settlements.append(
                Settlement(waiter: command.waiter, result: .failure(error)))
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
    /// If it was written, the connection ends with it, because its reply would still arrive.
    mutating func cancel(id: UInt64, now: NIODeadline, random: Double) -> Effects {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            let command = waiting.remove(at: index)
            return Effects(settlements: [cancelled(command, mayHaveExecuted: false)])
        }
        guard let index = written.firstIndex(where: { $0.id == id }) else { return Effects() }
        let command = written.remove(at: index)
        let reason = "\(command.name.text) was cancelled, so the connection was closed"
        var effects = lost(.passing(reason), now: now, random: random)
        effects.settlements.insert(cancelled(command, mayHaveExecuted: true), at: 0)
        return effects
    }

    private func cancelled(_ command: Command, mayHaveExecuted: Bool) -> Settlement {
        let error = RedisError(
            .cancelled,
            "\(command.name.text) was cancelled "
                + (mayHaveExecuted ? "before its reply came." : "before it was sent."),
            mayHaveExecuted: mayHaveExecuted)
        return Settlement(waiter: command.waiter, result: .failure(error))
    }

    /// Ends all commands and refuses further ones.
    mutating func close() -> Effects {
        guard phase != .closed else { return Effects() }
        phase = .closed
        let writtenEnd = Result<RedisReply, RedisError>.failure(closedError(mayHaveExecuted: true))
        let waitingEnd = Result<RedisReply, RedisError>.failure(closedError(mayHaveExecuted: false))
        let settlements =
            written.map { Settlement(waiter: $0.waiter, result: writtenEnd) }
            + waiting.map { Settlement(waiter: $0.waiter, result: waitingEnd) }
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
