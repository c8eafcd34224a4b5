import Adjustments
import Synchronization

/// Stops a library's file calls at a chosen one, for good: what a crash between any two of them looks like.
///
/// Nothing of the process is left then, so whatever would clean up fails too.
public final class FaultInjection: Sendable {
    private let callsLeft: Mutex<Int>

    /// Lets so many calls through.
    public init(afterCalls calls: Int) { callsLeft = Mutex(calls) }

    /// Whether it has struck.
    public var hasStruck: Bool { callsLeft.withLock { $0 < 0 } }

    func reach() throws(Failure) {
        let isAlive = callsLeft.withLock { left in
            if left >= 0 { left -= 1 }
            return left >= 0
        }
        guard isAlive else { throw Failure(.ioFailure, "the process crashed here, says a test.") }
    }
}
