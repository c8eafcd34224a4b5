import Glibc

/// What a photo that has taken over its decoder would try, and how a decoder ends that fails: done instead of
/// rendering by `minilab-hostile-child`, a render child but for this, so that tests see the real process denied and
/// its real death.
public enum TestDeed: String, Sendable, CaseIterable {
    /// Read /etc/passwd.
    case readPasswd = "read-passwd"
    /// Make a file beside the photo.
    case writeBesidePhoto = "write-beside-photo"
    /// Remove the photo.
    case removePhoto = "remove-photo"
    /// Change the photo's mode.
    case changeMode = "change-mode"
    /// Give the photo a second name in the folder of results.
    case linkPhoto = "link-photo"
    /// Open a socket of the internet.
    case openSocket = "open-socket"
    /// Open a socket to other programs of the machine.
    case openLocalSocket = "open-local-socket"
    /// Make a process.
    case fork
    /// Ask whether the worker could be sent a signal.
    case signalWorker = "signal-worker"
    /// Change a limit of the worker.
    case limitWorker = "limit-worker"
    /// Write and read in the folder of results, without a name: the one that must work.
    case useSpool = "use-spool"

    /// Start a program.
    case exec
    /// Attach to the worker as a debugger.
    case trace

    /// Loop in the reader of headers.
    case spinInHeader = "spin-in-header"
    /// Need more memory than there is, in Swift's allocator.
    case exhaustSwift = "exhaust-swift"
    /// The same in GLib's.
    case exhaustGLib = "exhaust-glib"
    /// The same in C++'s, with nobody who catches.
    case exhaustCPlusPlus = "exhaust-c++"
    /// Write a file without end.
    case fillDisk = "fill-disk"
    /// Crash.
    case abort
    /// Crash when WebP is tried at a worker's start, as with a library that does not fit the others.
    case crashInWebP = "crash-in-webp"

    /// The environment variable of the hostile child that names a deed.
    public static let variable = "MINILAB_TEST_DEED"

    /// The deed that the environment names.
    public static let armed = getenv(variable).flatMap { TestDeed(rawValue: String(cString: $0)) }
}
