import Synchronization

/// The time limit of a child's answer. It is stopped while the child is paused.
final class RenderClock: Sendable {
    private struct State {
        var left: Duration
        var runsSince: ContinuousClock.Instant?
    }

    /// The longest single sleep. A cancelled sleep stays in Dispatch's heap until its time, with 290 bytes
    /// (heaptrack, Swift 6.3); with sleeps of 300 s that would be several megabytes.
    private static let longestSleep: Duration = .seconds(5)

    private let state: Mutex<State>

    /// The largest delay in noticing an expiry that was postponed while the clock was stopped.
    private static let grain: Duration = .milliseconds(50)

    /// Creates a clock with this time left.
    init(_ limit: Duration, runs: Bool = true, at now: ContinuousClock.Instant = .now) {
        state = Mutex(State(left: limit, runsSince: runs ? now : nil))
    }

    /// Stops the clock.
    func stop(at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard let since = state.runsSince else { return }
            state.left -= now - since
            state.runsSince = nil
        }
    }

    /// Starts the clock again.
    func start(at now: ContinuousClock.Instant = .now) {
        state.withLock { $0.runsSince = $0.runsSince ?? now }
    }

    /// Returns the time left; negative after the expiry.
    func left(at now: ContinuousClock.Instant = .now) -> Duration {
        state.withLock { state in
            state.runsSince.map { state.left - (now - $0) } ?? state.left
        }
    }

    /// Waits until the time has expired.
    ///
    /// - Throws: `CancellationError`.
    func wait() async throws {
        var left = left()
        while left > .zero {
            try await Task.sleep(for: min(max(left, Self.grain), Self.longestSleep))
            left = self.left()
        }
    }
}
