import Glibc

/// A named moment inside a render at which a test can stop the process, to kill it just there.
///
/// Inert unless the environment says `MINILAB_TEST_STOP_AT=<name>`: then the process sends itself
/// SIGSTOP when it comes by for the first time. The tester sees it stopped (`waitpid` with
/// `WUNTRACED`, or state T in `/proc/<pid>/stat`) and kills or continues it.
enum TestPoint: String {
    /// Some pixels of the photo are computed.
    case midRender = "mid-render"
    /// The result is written and the answer not yet given.
    case rendered

    private static let armed: TestPoint? = getenv("MINILAB_TEST_STOP_AT").flatMap {
        TestPoint(rawValue: String(cString: $0))
    }

    /// Marks the moment.
    @inline(__always)
    func reach() {
        guard let armed = Self.armed, armed == self else { return }
        raise(SIGSTOP)
    }
}
