public import Adjustments
import Synchronization
public import SystemPackage

/// Stops a library's file calls at a chosen one, for good: what a crash between any two of them looks like.
///
/// Nothing of the process is left then, so whatever would clean up fails too.
public final class FaultInjection: Sendable {
    private let callsLeft: Mutex<Int>
    private let record = Mutex<[FileCall]>([])

    /// Lets so many calls through.
    public init(afterCalls calls: Int) { callsLeft = Mutex(calls) }

    /// Whether it has struck.
    public var hasStruck: Bool { callsLeft.withLock { $0 < 0 } }

    /// The calls that were let through.
    public var calls: [FileCall] { record.withLock { $0 } }

    /// Counts a call that is about to be made.
    ///
    /// - Throws: `ioFailure` when the process has crashed.
    public func reach(_ name: String, _ path: FilePath) throws(Failure) {
        let isAlive = callsLeft.withLock { left in
            if left >= 0 { left -= 1 }
            return left >= 0
        }
        guard isAlive else { throw Failure(.ioFailure, "the process crashed here, says a test.") }
        record.withLock { $0.append(FileCall(name: name, path: path)) }
    }
}

/// A file call, as a test sees it.
public struct FileCall: Sendable, Hashable {
    /// The call: `write`, `move`, …
    public let name: String
    /// The file that it makes or changes.
    public let path: FilePath

    /// A call to be compared with.
    public init(name: String, path: FilePath) { (self.name, self.path) = (name, path) }
}
