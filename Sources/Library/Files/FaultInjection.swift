public import Edits
import Synchronization
public import SystemPackage

/// Simulates a crash in tests: from a chosen file call on, all file calls fail.
///
/// Cleaning up fails too, because after a crash nothing of the process is left.
public final class FaultInjection: Sendable {
    private let callsLeft: Mutex<Int>
    private let record = Mutex<[FileCall]>([])

    /// Creates a fault after a number of successful calls.
    public init(afterCalls calls: Int) { callsLeft = Mutex(calls) }

    /// Whether the simulated crash has happened.
    public var hasStruck: Bool { callsLeft.withLock { $0 < 0 } }

    /// The calls before the crash.
    public var calls: [FileCall] { record.withLock { $0 } }

    /// Counts a call that is about to be made.
    ///
    /// - Throws: `ioFailure` after the simulated crash.
    public func reach(_ name: String, _ path: FilePath) throws(Failure) {
        let isAlive = callsLeft.withLock { left in
            if left >= 0 { left -= 1 }
            return left >= 0
        }
        guard isAlive else { throw Failure(.ioFailure, "the process crashed here, says a test.") }
        record.withLock { $0.append(FileCall(name: name, path: path)) }
    }
}

/// A file call, as recorded for a test.
public struct FileCall: Sendable, Hashable {
    /// The call: `write`, `move`, …
    public let name: String
    /// The file that the call creates or changes.
    public let path: FilePath

    /// Creates a call, for comparison.
    public init(name: String, path: FilePath) { (self.name, self.path) = (name, path) }
}
