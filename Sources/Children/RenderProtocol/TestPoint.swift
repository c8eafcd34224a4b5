import Glibc
import Synchronization

/// A named point in a job's life at which a test can stop the process, to kill it exactly there.
///
/// It has no effect unless the environment contains `MINILAB_TEST_STOP_AT=<name>`: then the process sends itself
/// SIGSTOP when it reaches the point for the first time. The test sees that it is stopped (state T in
/// `/proc/<pid>/stat`) and kills it, or continues it long after its lease has expired.
public enum TestPoint: String, Sendable, CaseIterable {
    /// Worker: the job is claimed; no further step has begun.
    case afterClaim = "after-claim"
    /// Render child: some pixels of the photo are computed.
    case midRender = "mid-render"
    /// Render child: the result is written and the reply is not sent.
    case afterRender = "after-render"
    /// Worker: the version is complete in staging.
    case beforeCommit = "before-commit"
    /// Worker: Redis has recorded the version; the pointer still shows the old one.
    case afterCommit = "after-commit"
    /// Worker: the pointer shows the new version; the event is not sent.
    case afterPointer = "after-pointer"

    /// The environment variable that names a point.
    public static let variable = "MINILAB_TEST_STOP_AT"

    /// The point that the environment names, as written there.
    public static let armedName = getenv(variable).map { String(cString: $0) }

    private static let armed = armedName.flatMap(TestPoint.init)

    private static let isPassed = Mutex(false)

    @inline(__always)
    public func reach() {
        guard let armed = Self.armed, armed == self else { return }
        Self.stopOnce()
    }

    private static func stopOnce() {
        let isFirst = isPassed.withLock { isPassed in
            defer { isPassed = true }
            return !isPassed
        }
        if isFirst { raise(SIGSTOP) }
    }
}
