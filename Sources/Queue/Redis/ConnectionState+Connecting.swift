import DequeModule
import NIOCore

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
            effects.settlements += written.map {
                Settlement(waiter: $0.waiter, result: .failure(error))
            }
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
            effects.settlements += waiting.map {
                Settlement(waiter: $0.waiter, result: .failure(error))
            }
            waiting.removeAll()
        }
        return effects
    }
}
