import Glibc

/// The places where a crash of the worker has to be survived, named so that tests can cause one there.
///
/// Inert unless `MINILAB_CRASH_AT` names a point: then the process kills itself with SIGKILL, which
/// no code of ours can soften, the first time it gets there.
enum CrashPoint: String, CaseIterable {
    /// The job is claimed and nothing else has happened.
    case afterClaim = "after-claim"
    /// The version is complete in staging.
    case beforeCommit = "before-commit"
    /// Redis knows the version; the pointer still shows the old one.
    case afterCommit = "after-commit"
    /// The pointer shows the new version; the event is not sent.
    case afterPointer = "after-pointer"

    /// The environment variable that names a point.
    static let variable = "MINILAB_CRASH_AT"

    private static let chosen = getenv(variable).map { String(cString: $0) }

    /// Dies here if this is the chosen point.
    func pass() {
        guard Self.chosen == rawValue else { return }
        kill(getpid(), SIGKILL)
    }
}
