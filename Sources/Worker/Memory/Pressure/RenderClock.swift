import Synchronization

/// The time that a child may take for an answer; it stands still while the child does.
final class RenderClock: Sendable {
    private struct State {
        var left: Duration
        var runsSince: ContinuousClock.Instant?
    }

    /// A sleep that is cancelled stays in Dispatch's heap until its time, with 290 bytes (heaptrack, Swift 6.3): 300 s of
    /// renders would be several megabytes.
    private static let longestSleep: Duration = .seconds(5)

    private let state: Mutex<State>

    /// How late an end may be noticed that came while the clock stood.
    private static let grain: Duration = .milliseconds(50)

    /// A clock with this time left.
    init(_ limit: Duration, runs: Bool = true, at now: ContinuousClock.Instant = .now) {
        state = Mutex(State(left: limit, runsSince: runs ? now : nil))
    }

    /// Lets it stand still.
    func stop(at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard let since = state.runsSince else { return }
            state.left -= now - since
            state.runsSince = nil
        }
    }

    /// Lets it go on.
    func start(at now: ContinuousClock.Instant = .now) {
        state.withLock { $0.runsSince = $0.runsSince ?? now }
    }

    /// What is left; below zero when it is over.
    func left(at now: ContinuousClock.Instant = .now) -> Duration {
        state.withLock { state in
            state.runsSince.map { state.left - (now - $0) } ?? state.left
        }
    }

    /// Waits until it is over.
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
